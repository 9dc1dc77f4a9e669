import { isDeepStrictEqual } from 'node:util';
import { isMap, parseDocument as parseYaml, type YAMLMap } from 'yaml';
import { isCoded } from '../../../../src/base/errors.ts';
import { parseDocument, parseRow } from '../../../../src/fibers/document.ts';
import { type DocumentEdit, editDocument } from '../../../../src/fibers/edit.ts';
import { readFrontmatter, splitFrontmatter } from '../../../../src/fibers/frontmatter.ts';
import { nameLinks, renameLinks } from '../../../../src/fibers/links.ts';
import { fold } from '../../../../src/fibers/search/fold.ts';
import { snippetsOf } from '../../../../src/fibers/search/snippets.ts';
import { unifiedDiff } from '../../../../src/fibers/text-diff.ts';
import type { Seeded } from '../../../faults/seeded.ts';
import { damaged, type Pump, pick, pumped, several, WORDS } from '../grammar/parts.ts';
import { frontmatter } from '../grammar/yaml.ts';
import type { Target } from '../target.ts';

const PLACE = { store: '/s', path: '/s/.fibers/a/a.md', relativePath: 'a/a.md' };
const NOW = Date.UTC(2026, 0, 2);
/** Longer than this the reference takes too long itself. */
const MOST_FOR_REFERENCE = 8 * 1024;

const BODY_PUMPS: readonly Pump[] = [
  { name: 'links', piece: () => '[[a]] ' },
  { name: 'open links', piece: () => '[[a|' },
  { name: 'open brackets', piece: () => '[' },
  { name: 'fences', piece: () => '---\n' },
  { name: 'fences with spaces', piece: () => '---  \t x\n' },
  { name: 'lines', piece: (n) => `line ${n}\n` },
  { name: 'one long line', piece: () => 'needle ' },
  { name: 'ligatures', piece: () => 'ﬃ' },
  { name: 'combining marks', head: 'e', piece: () => '\u0301' },
];

/** The reader of documents, and of rows without their body. */
export const documentRead: Target = {
  name: 'document-read',
  generate: (random, turn) => {
    const { text, pump } = document(random, turn);
    return { input: damaged(random, text), pump };
  },
  run: (input) => ({ document: parseDocument(input, PLACE), row: parseRow(input, PLACE) }),
  judge(input, answer) {
    const { document: read, row } = answer as ReturnType<typeof bothReadings>;
    const { body: _body, fault: _fault, ...fields } = read;
    if (!isDeepStrictEqual(fields, row)) return ['the row of a document differs from the document'];
    const parts = splitFrontmatter(input.toString('utf8'));
    if (parts === null || parts.yaml.length > MOST_FOR_REFERENCE) return [];
    const ours = readFrontmatter(parts.yaml);
    const reference = referenceReading(parts.yaml);
    if (ours.problem !== null || reference === null) return [];
    return isDeepStrictEqual(ours.data, reference)
      ? []
      : [`read ${JSON.stringify(ours.data)}, the reference reads ${JSON.stringify(reference)}`];
  },
};

function bothReadings(input: Buffer) {
  return { document: parseDocument(input, PLACE), row: parseRow(input, PLACE) };
}

const EDITS: readonly DocumentEdit[] = [
  { set: { outcome: 'Done.' } },
  { set: { status: 'closed' } },
  { set: { status: 'active', 'svc.agent': 'codex' } },
  { set: { 'svc.runtime.session_uuid': 'x', 'svc.runtime.harness': 'claude' } },
  { set: { tags: ['a', 'b: c', '#d'] } },
  { unset: ['outcome', 'svc.effort'] },
  { unset: ['svc'] },
  { set: { other: { a: [1, null, 'x'], b: {} } } },
  { set: { outcome: 'Two\nlines: "quoted" # no' }, body: 'Another body.\n' },
];

/** Edits of a document: exactly the edited keys change, and every other line keeps its bytes. */
export const documentEdit: Target = {
  name: 'document-edit',
  generate(random, turn) {
    const { text, pump } = document(random, turn);
    const edit = random.chance(0.03) ? manyKeys(pick(random, [20, 100, 400])) : pick(random, EDITS);
    const many = Object.keys(edit.set ?? {}).length > 10;
    return { input: Buffer.from(JSON.stringify({ text, edit })), pump: many ? 'edited keys' : pump };
  },
  run(input) {
    const { text, edit } = JSON.parse(input.toString()) as { text: string; edit: DocumentEdit };
    return refusalOr(() => editDocument(text, edit, NOW));
  },
  judge(input, answer) {
    if (typeof answer !== 'string') return [];
    const { text, edit } = JSON.parse(input.toString()) as { text: string; edit: DocumentEdit };
    const [before, after] = [splitFrontmatter(text), splitFrontmatter(answer)];
    if (before === null || after === null) return ['a document that was edited has no frontmatter'];
    if (after.yaml.length > 4 * MOST_FOR_REFERENCE) return [];
    const problems: string[] = [];
    if (after.body !== (edit.body ?? before.body)) problems.push('the body changed');
    const edited = new Set(
      [...Object.keys(edit.set ?? {}), ...(edit.unset ?? []), 'updated-at', 'closed-at'].map(
        (path) => path.split('.')[0]!,
      ),
    );
    const [was, is] = [readFrontmatter(before.yaml), readFrontmatter(after.yaml)];
    if (is.problem !== null) problems.push(`the edited document cannot be read: ${is.problem.message}`);
    for (const key of new Set([...Object.keys(was.data), ...Object.keys(is.data)])) {
      if (!edited.has(key) && !isDeepStrictEqual(was.data[key], is.data[key]))
        problems.push(`"${key}" changed`);
    }
    for (const [path, value] of Object.entries(edit.set ?? {})) {
      const now = path
        .split('.')
        .reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], is.data);
      if (!isDeepStrictEqual(now, value)) problems.push(`"${path}" is ${JSON.stringify(now)}`);
    }
    const lost = firstLost(linesOutside(before.yaml, edited), after.yaml.split('\n'));
    if (lost !== null) problems.push(`the line ${JSON.stringify(lost)} changed`);
    return problems;
  },
};

/** What is done with bodies: links, the search, the diff of a rehearsal. */
export const documentBody: Target = {
  name: 'document-body',
  generate(random, turn) {
    const { text, pump } = body(random, turn);
    return { input: damaged(random, text), pump };
  },
  run(input) {
    const text = input.toString('utf8');
    const folded = fold(text);
    return {
      text,
      named: nameLinks(text, 'a'),
      renamed: renameLinks(text, 'a', 'b/a'),
      snippets: snippetsOf(text, ['needle', 'a']),
      folded: folded.length,
      diff: unifiedDiff('a.md', text, text.replaceAll('e', 'f')),
    };
  },
  judge(_input, answer) {
    const { text, named, renamed } = answer as { text: string; named: boolean; renamed: string };
    return named === (renamed !== text)
      ? []
      : ['whether links are there and whether they are renamed differ'];
  },
};

function document(random: Seeded, turn: number | null): { text: string; pump: string | null } {
  const front = frontmatter(random, turn);
  const end = random.chance(0.05) ? '' : `---${pick(random, ['', '', '', ' ', '\t'])}\n`;
  return {
    text: `---
${front.text}${end}${plainBody(random)}`,
    pump: front.pump,
  };
}

function body(random: Seeded, turn: number | null): { text: string; pump: string | null } {
  if (turn === null) return { text: plainBody(random), pump: null };
  const { name, text } = pumped(turn, BODY_PUMPS);
  return { text: plainBody(random) + text, pump: name };
}

function plainBody(random: Seeded): string {
  return several(
    random,
    0,
    5,
    () => `${several(random, 0, 6, () => pick(random, [...WORDS, '[[a]]', '[[a/b#c|d]]']), ' ')}\n`,
  );
}

function manyKeys(count: number): DocumentEdit {
  return { set: Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, `value ${n}`])) };
}

function refusalOr<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (isCoded(error)) return null;
    throw error;
  }
}

/** What the YAML library itself reads, with every check of its own; null where it refuses. */
function referenceReading(yaml: string): Record<string, unknown> | null {
  try {
    const read = parseYaml(yaml, { strict: true, uniqueKeys: true, version: '1.2', logLevel: 'error' });
    if (read.errors.length > 0) return null;
    const value: unknown = read.toJS({ maxAliasCount: 100 }) ?? {};
    return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** The lines of block pairs whose key is not edited. */
function linesOutside(yaml: string, edited: ReadonlySet<string>): string[] {
  const { contents } = parseYaml(yaml, { logLevel: 'error', uniqueKeys: false });
  if (!isMap(contents) || contents.flow === true) return [];
  const starts = (contents as YAMLMap<{ range: [number, number, number]; value: unknown }>).items.map(
    ({ key }) => ({
      name: String(key.value),
      at: yaml.lastIndexOf('\n', key.range[0] - 1) + 1,
    }),
  );
  return starts.flatMap(({ name, at }, index) => {
    if (edited.has(name)) return [];
    // Comments before the next key may go with that key.
    const lines = yaml.slice(at, starts[index + 1]?.at).split('\n');
    while (lines.length > 0 && /^\s*(?:#.*)?$/.test(lines.at(-1)!)) lines.pop();
    return lines;
  });
}

/** The first of the lines that does not come, in this order, among the others. */
function firstLost(wanted: readonly string[], lines: readonly string[]): string | null {
  let from = 0;
  for (const line of wanted) {
    const at = lines.indexOf(line, from);
    if (at === -1) return line;
    from = at + 1;
  }
  return null;
}
