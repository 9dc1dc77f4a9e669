import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Functions that open a file or read one whole. */
const READS = new Set([
  'createReadStream',
  'open',
  'openAsBlob',
  'openSync',
  'read',
  'readFile',
  'readFileSync',
  'readSync',
  'readv',
  'readvSync',
]);
const FILE_MODULES = new Set(['fs', 'fs/promises', 'node:fs', 'node:fs/promises']);
/** `src/platform` is where the bounded reader lies, and where the kernel’s own files are read. */
const FREE = /^src\/platform\//;
/** Who may open files elsewhere, and which, each with the reason. */
const NAMED: Readonly<Record<string, { uses: readonly string[]; reason: string }>> = {
  'src/cli/hook/read-file.cjs': {
    uses: ['open', 'read'],
    reason: 'the bounded reader of hooks, which cannot afford to load the other one',
  },
  'src/cli/hook/read-input.cjs': { uses: ['read'], reason: 'reads stdin by its descriptor, within a limit' },
  'src/cli/hook/random-id.cjs': { uses: ['openSync', 'readSync'], reason: 'reads 16 bytes of /dev/urandom' },
  'src/cli/hook/agent-process.cjs': { uses: ['readFile'], reason: 'reads the kernel’s facts of a process' },
  'src/cli/hook/take-context.cjs': { uses: ['open'], reason: 'opens a folder to sync it' },
  'src/ledgers/append-line.cjs': {
    uses: ['open', 'openSync', 'read', 'readSync'],
    reason: 'a writer: opens a ledger without waiting, requires a regular file and looks at its last byte',
  },
  'src/fibers/attachments/store-attachments.ts': {
    uses: ['openSync'],
    reason: 'a writer: makes new files only',
  },
  'src/mux/tmux-client.ts': { uses: ['readFileSync'], reason: 'reads the kernel’s table of sockets' },
  'src/threads/fault-injection.ts': { uses: ['openSync'], reason: 'gets stuck on purpose, in tests alone' },
};

function sources(): string[] {
  return ['src', 'workers'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|cjs|mjs)$/.test(name) && !name.endsWith('.d.ts'))
      .map((name) => `${folder}/${name}`),
  );
}

/** The functions of `READS` that a source takes from a file module, however it does. */
function readsOf(text: string): string[] {
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
    if (READS.has(name)) found.add(name);
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

const WHAT_TO_DO =
  'read it by src/platform/regular-file.ts (openRegularFile, readRegularFile and their Sync forms), which never waits and reads no more than a limit';

describe('every file that users or agents may have written', () => {
  it('is opened and read only by the bounded reader', () => {
    const files = sources();
    expect(files.length).toBeGreaterThan(300);
    for (const file of files.filter((one) => !FREE.test(one)))
      expect(readsOf(readFileSync(join(ROOT, file), 'utf8')), `${file}: ${WHAT_TO_DO}`).toEqual(
        [...(NAMED[file]?.uses ?? [])].sort(),
      );
  });

  it('is found by this rule however the functions are imported', () => {
    expect(readsOf(`import { readFileSync as r, statSync } from 'node:fs'; r('x')`)).toEqual([
      'readFileSync',
    ]);
    expect(readsOf(`import * as fs from 'fs'; fs.promises.readFile('x')`)).toEqual(['readFile']);
    expect(readsOf(`import fs from 'node:fs/promises'; fs.open('x')`)).toEqual(['open']);
    expect(readsOf(`import { promises } from 'node:fs'; promises.readFile('x')`)).toEqual(['readFile']);
    expect(readsOf(`const { openSync: o } = require('node:fs')`)).toEqual(['openSync']);
    expect(readsOf(`const fs = require('fs'); fs.createReadStream('x')`)).toEqual(['createReadStream']);
    expect(readsOf(`const { readFile } = await import('node:fs/promises')`)).toEqual(['readFile']);
    expect(readsOf(`require('node:fs').readFileSync('x')`)).toEqual(['readFileSync']);
    expect(readsOf(`import type { FileHandle } from 'node:fs/promises'; file.read()`)).toEqual([]);
  });

  it('has exceptions that exist, each with its reason', () => {
    for (const [file, { reason }] of Object.entries(NAMED)) {
      expect(sources()).toContain(file);
      expect(reason.length, file).toBeGreaterThan(15);
    }
  });
});
