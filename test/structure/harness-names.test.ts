import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NAMES = HARNESS_NAMES.join('|');
const WORD = new RegExp(String.raw`\b(${NAMES})\b`, 'i');
/** A name as code has it: alone, as a part of a path, or at the start of a variable’s name. */
const IN_CODE = new RegExp(String.raw`^(${NAMES})$|(^|[/.])(${NAMES})(/|$)|\b(${NAMES.toUpperCase()})_`);

/** Places outside its own folder in which a harness may be named, and why. */
const ALLOWED: readonly [place: RegExp, why: string][] = [
  [new RegExp(`^src/harness/(${NAMES})/`), 'the folder of the harness'],
  [/^src\/harness\/harnesses\.ts$/, 'the table of harnesses'],
  [/^src\/contract\/harness-name\.ts$/, 'the list of their names in the contract'],
  [/^src\/harness\/agents\/builtin-agents\.ts$/, 'the built-in agents'],
  [/^src\/cli\/hook\/run\.cjs$/, 'a hook that names no harness; hooks load no table'],
  [/^src\/harness\/hooks\/machine-prompts\.ts$/, 'how messages begin that programs write'],
  [/^src\/cli\/verbs\/demo\/(agent|prepare)\.ts$/, 'the demo imitates one program'],
];
/** Sentences for people are documentation there: help, examples, and what a program itself writes. */
const PROSE = /^src\/(cli|routes)\//;

describe('the name of a harness', () => {
  it('occurs only in its own folder, in the two lists of all, in built-in agents and in documentation', () => {
    expect(sources().flatMap((path) => namesIn(path))).toEqual([]);
  });

  it.each([
    ["if (agent.harness === 'codex') run();", 'a comparison'],
    ["import { x } from '../harness/claude/records.ts';", 'an import from its folder'],
    ['const home = env.CODEX_HOME;', 'a variable of its environment'],
    ["const home = env['PI_HOME'];", 'a variable by its name'],
    ['const tables = { pi: 1 };', 'a key'],
    ['function readClaude() {}', 'a part of an identifier'],
    ['const is = /claude|other/;', 'a pattern'],
  ])('is found in %s: %s', (text) => {
    expect(namesInText('src/dispatch/example.ts', text)).toHaveLength(1);
  });

  it('is not found in a comment, in help, or inside another word', () => {
    expect(namesInText('src/dispatch/example.ts', '// As codex does.\nconst api = "pipe";')).toEqual([]);
    expect(namesInText('src/cli/example.ts', "const help = 'svc setup claude';")).toEqual([]);
  });
});

function sources(): string[] {
  return ['src', 'workers'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => ['.ts', '.cjs', '.mjs'].includes(extname(name)))
      .map((name) => `${folder}/${name}`),
  );
}

function namesIn(path: string): string[] {
  if (ALLOWED.some(([place]) => place.test(path))) return [];
  return namesInText(path, readFileSync(join(ROOT, path), 'utf8'));
}

/** Each place of a source text that names a harness, as `path:line text`. */
function namesInText(path: string, text: string): string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false);
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      if (wordsOf(node.text).some((word) => WORD.test(word))) note(node, node.text);
    } else if (ts.isRegularExpressionLiteral(node)) {
      if (WORD.test(node.text)) note(node, node.text);
    } else if (ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node)) {
      const isProse = node.text.includes(' ') && PROSE.test(path);
      if (!isProse && (node.text.includes(' ') ? WORD : IN_CODE).test(node.text)) note(node, node.text);
    }
    ts.forEachChild(node, look);
  };
  const note = (node: ts.Node, what: string) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    found.push(`${path}:${line + 1} ${what}`);
  };
  look(source);
  return found;
}

/** `readPiHome` and `PI_HOME` as their words. */
function wordsOf(identifier: string): string[] {
  return identifier.replace(/([a-z0-9])([A-Z])/g, '$1_$2').split('_');
}
