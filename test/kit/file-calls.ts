import ts from 'typescript';

const FILE_MODULES = new Set(['fs', 'fs/promises', 'node:fs', 'node:fs/promises']);
/** Most sources name none of them, and parsing takes long. */
const NAMES_MODULE = /['"`](node:)?fs(\/promises)?['"`]/;

/** Which of these functions a source takes from a file module, however it does. */
export function fileCallsIn(text: string, functions: ReadonlySet<string>): string[] {
  if (!NAMES_MODULE.test(text)) return [];
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true);
  const found = new Set<string>();
  const modules = new Set<string>();
  const isFileModule = (node: ts.Node | undefined): boolean =>
    node !== undefined && ts.isStringLiteralLike(node) && FILE_MODULES.has(node.text);
  const isLoad = (node: ts.Node | undefined): boolean => {
    if (node === undefined) return false;
    if (ts.isAwaitExpression(node) || ts.isParenthesizedExpression(node)) return isLoad(node.expression);
    return (
      ts.isCallExpression(node) &&
      (node.expression.kind === ts.SyntaxKind.ImportKeyword ||
        node.expression.getText(source) === 'require') &&
      isFileModule(node.arguments[0])
    );
  };
  const take = (name: string) => {
    if (functions.has(name)) found.add(name);
  };
  const visit = (node: ts.Node): void => {
    if (
      (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) &&
      isFileModule(node.moduleSpecifier)
    ) {
      if (ts.isExportDeclaration(node)) found.add('export');
      else {
        const clause = node.importClause;
        if (clause?.name !== undefined) modules.add(clause.name.text);
        const bindings = clause?.namedBindings;
        if (bindings !== undefined && ts.isNamespaceImport(bindings)) modules.add(bindings.name.text);
        if (
          bindings !== undefined &&
          ts.isNamedImports(bindings) &&
          clause?.phaseModifier !== ts.SyntaxKind.TypeKeyword
        )
          for (const one of bindings.elements) {
            const name = (one.propertyName ?? one.name).text;
            if (!one.isTypeOnly) take(name);
            if (name === 'promises') modules.add(one.name.text);
          }
      }
    }
    if (ts.isVariableDeclaration(node) && isLoad(node.initializer)) {
      if (ts.isIdentifier(node.name)) modules.add(node.name.text);
      else
        for (const one of node.name.elements)
          if (ts.isBindingElement(one)) take((one.propertyName ?? one.name).getText(source));
    }
    if (ts.isPropertyAccessExpression(node)) {
      const on = node.expression.getText(source).replace(/\.promises$/, '');
      if (modules.has(on) || isLoad(node.expression)) take(node.name.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...found].sort();
}
