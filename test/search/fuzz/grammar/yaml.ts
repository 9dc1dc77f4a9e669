import type { Seeded } from '../../../faults/seeded.ts';
import { type Pump, pick, pumped, several, WORDS } from './parts.ts';

const KEYS = [
  'id',
  'name',
  'status',
  'tags',
  'outcome',
  'due',
  'tempered',
  'created-at',
  'svc',
  'collaboration',
  'project_dir',
  'other',
  'a b',
  '"q"',
  '1',
  'null',
  '__proto__',
  'ключ',
  'x.y',
];
const SVC_KEYS = [
  'kind',
  'host',
  'agent',
  'project_dir',
  'schedule',
  'tz',
  'effort',
  'surface',
  'runtime',
  'other',
];

/** What makes a reader of YAML slow, deep or large when it comes many times. */
const YAML_PUMPS: readonly Pump[] = [
  { name: 'nested complex keys', head: 'x:\n  ', piece: () => '? ', tail: () => 'x\n' },
  { name: 'complex keys', piece: (n) => `? k${n}\n: v\n` },
  { name: 'nested flow lists', head: 'x: ', piece: () => '[', tail: (n) => `${']'.repeat(n)}\n` },
  { name: 'nested flow maps', head: 'x: ', piece: () => '{a: ', tail: (n) => `1${'}'.repeat(n)}\n` },
  { name: 'nested flow complex keys', head: 'x: ', piece: () => '{? ', tail: (n) => `1${'}'.repeat(n)}\n` },
  { name: 'open flow lists', head: 'x: ', piece: () => '[' },
  { name: 'open flow maps', head: 'x: ', piece: () => '{a: ' },
  { name: 'nested block lists', head: 'x:\n  ', piece: () => '- ', tail: () => 'x\n' },
  { name: 'nested block maps', head: 'x:\n', piece: (n) => `${' '.repeat(Math.min(n + 1, 600))}a:\n` },
  { name: 'aliases', head: 'a: &a [1, 2]\nx: [', piece: () => '*a, ', tail: () => ']\n' },
  {
    name: 'aliases of aliases',
    head: 'a0: &a0 [x]\n',
    piece: (n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]\n`,
  },
  { name: 'anchors', piece: (n) => `k${n}: &a${n} v\n` },
  { name: 'merge keys', head: 'a: &a {b: 1}\nx:\n', piece: () => '  <<: *a\n' },
  { name: 'keys', piece: (n) => `k${n}: v\n` },
  { name: 'repeated keys', piece: () => 'k: v\n' },
  { name: 'keys of one map', head: 'x: {', piece: (n) => `k${n}: ${n}, `, tail: () => '}\n' },
  { name: 'list items', head: 'tags:\n', piece: (n) => `  - t${n}\n` },
  { name: 'flow list items', head: 'tags: [', piece: (n) => `t${n}, `, tail: () => ']\n' },
  { name: 'escapes', head: 'x: "', piece: () => '\\n', tail: () => '"\n' },
  { name: 'unicode escapes', head: 'x: "', piece: () => '\\u00e9', tail: () => '"\n' },
  { name: 'open quote', head: 'x: "', piece: () => 'a ' },
  { name: 'single quotes', head: "x: '", piece: () => "''", tail: () => "'\n" },
  { name: 'comments', piece: (n) => `# ${n}\n` },
  { name: 'comment signs', head: 'x: ', piece: () => ' #' },
  { name: 'spaces', head: 'x:', piece: () => ' ', tail: () => 'y\n' },
  { name: 'tabs', head: 'x:', piece: () => '\t', tail: () => 'y\n' },
  { name: 'blank lines', head: 'x:\n', piece: () => '\n' },
  { name: 'lines of spaces', head: 'x: |\n', piece: (n) => `${' '.repeat(n % 40)}\n` },
  { name: 'tag signs', head: 'x: ', piece: () => '!', tail: () => ' y\n' },
  { name: 'directives', piece: () => '%YAML 1.2\n' },
  { name: 'document ends', piece: () => '...\n' },
  { name: 'literal lines', head: 'x: |\n', piece: () => '  a line\n' },
  { name: 'folded lines', head: 'x: >\n', piece: (n) => `  ${n}\n\n` },
  { name: 'plain continuations', head: 'x: a\n', piece: () => '  more\n' },
  { name: 'colons', head: 'x', piece: () => ': ' },
  { name: 'maps on one line', head: 'x: ', piece: () => 'a: ' },
  { name: 'dashes', piece: () => '-' },
  { name: 'digits', head: 'x: ', piece: () => '9', tail: () => '\n' },
  { name: 'digits and points', head: 'x: ', piece: () => '1.', tail: () => '\n' },
  { name: 'words', head: 'name: ', piece: () => 'word ', tail: () => '\n' },
  { name: 'long key', piece: () => 'k', tail: () => ': v\n' },
  { name: 'quoted keys', piece: (n) => `"k${n}" : 'v'\n` },
  { name: 'roster', head: 'collaboration:\n', piece: (n) => `  r${n}: [a, b]\n` },
  { name: 'carriage returns', head: 'x: a', piece: () => '\r' },
  { name: 'byte order marks', head: 'x: ', piece: () => '\ufeff' },
];

/** Frontmatter lines of one document, mostly such as can be read. */
export function frontmatter(random: Seeded, turn: number | null): { text: string; pump: string | null } {
  const lines = [];
  if (random.chance(0.7)) lines.push(`id: 01K7${String(random.whole(0, 9)).padStart(22, '0')}\n`);
  if (random.chance(0.7)) lines.push(`status: ${pick(random, ['open', 'active', 'closed', 'Open', '1'])}\n`);
  lines.push(several(random, 0, 6, () => pair(random, pick(random, KEYS), 0)));
  if (random.chance(0.4))
    lines.push(`svc:\n${several(random, 1, 4, () => pair(random, pick(random, SVC_KEYS), 2))}`);
  if (turn === null) return { text: lines.join(''), pump: null };
  const { name, text } = pumped(turn, YAML_PUMPS);
  lines.splice(random.whole(0, lines.length), 0, text);
  return { text: lines.join(''), pump: name };
}

function pair(random: Seeded, key: string, column: number): string {
  const comment = random.chance(0.15) ? ' # why' : '';
  return `${' '.repeat(column)}${key}:${value(random, column, 0)}${comment}\n`;
}

/** A value as it follows its colon. */
function value(random: Seeded, column: number, depth: number): string {
  const indent = ' '.repeat(column + 2);
  const word = () => pick(random, WORDS);
  const forms: (() => string)[] = [
    () => ` ${word()}`,
    () => ` ${JSON.stringify(word())}`,
    () => ` '${word().replaceAll("'", "''")}'`,
    () => '',
    () => ` ${several(random, 1, 3, word, ' ')}`,
    () => ` [${several(random, 0, 3, () => flow(random, depth), ', ')}]`,
    () => ` ${flow(random, depth)}`,
    () =>
      ` |${pick(random, ['', '-', '+', '2'])}\n${several(random, 1, 3, () => `${indent}${word()}`, '\n')}`,
    () => ` >\n${several(random, 1, 3, () => `${indent}${word()}`, '\n')}`,
    () => `\n${several(random, 1, 3, () => `${indent}- ${word()}`, '\n')}`,
    () => `\n${several(random, 1, 3, () => pair(random, pick(random, KEYS), column + 2)).trimEnd()}`,
    () => ` &anchor ${word()}`,
    () => ' *anchor',
    () => ` !!str ${word()}`,
  ];
  return pick(random, depth > 2 ? forms.slice(0, 5) : forms)();
}

function flow(random: Seeded, depth: number): string {
  if (depth > 2 || random.chance(0.6))
    return pick(random, ['a', 'null', '1', '"x, y"', "'z'", 'true', 'a b']);
  return random.chance(0.5)
    ? `[${several(random, 0, 3, () => flow(random, depth + 1), ', ')}]`
    : `{${several(random, 0, 3, () => `${pick(random, KEYS)}: ${flow(random, depth + 1)}`, ', ')}}`;
}
