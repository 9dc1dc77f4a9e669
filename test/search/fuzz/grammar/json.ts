import type { Seeded } from '../../../faults/seeded.ts';
import { type Pump, pick, several, WORDS } from './parts.ts';

/** Any JSON value; `names` are the keys that its reader looks for. */
export function jsonValue(random: Seeded, names: readonly string[], depth = 0): unknown {
  const word = () => pick(random, WORDS);
  const forms: (() => unknown)[] = [
    () => word(),
    () => random.whole(-2, 1e9),
    () => pick(random, [null, true, false, 0, -0, 1e21, 1.5, '', Number.MAX_SAFE_INTEGER]),
    () => Array.from({ length: random.whole(0, 3) }, () => jsonValue(random, names, depth + 1)),
    () => jsonObject(random, names, depth + 1),
  ];
  return pick(random, depth > 3 ? forms.slice(0, 3) : forms)();
}

export function jsonObject(random: Seeded, names: readonly string[], depth = 0): Record<string, unknown> {
  const keys = Array.from({ length: random.whole(0, 6) }, () =>
    random.chance(0.8) ? pick(random, names) : pick(random, WORDS),
  );
  return Object.fromEntries(keys.map((key) => [key, jsonValue(random, names, depth)]));
}

/** A value as JSON text, in one of the layouts that people and programs use. */
export function jsonText(random: Seeded, value: unknown): string {
  const text = JSON.stringify(value, null, pick(random, [undefined, undefined, 2, '\t']));
  return random.chance(0.1) ? text.replaceAll(':', ' : ') + several(random, 0, 2, () => '\n') : text;
}

/** What makes a reader of JSON text slow, deep or large when it comes many times; `x` is where a value stands. */
export const JSON_PUMPS: readonly Pump[] = [
  { name: 'nested lists', piece: () => '[', tail: (n) => ']'.repeat(n) },
  { name: 'nested maps', piece: () => '{"a":', tail: (n) => `1${'}'.repeat(n)}` },
  { name: 'open lists', piece: () => '[' },
  { name: 'list items', head: '["/a"', piece: (n) => `,"/p${n}"`, tail: () => ']' },
  { name: 'members', head: '{"a":1', piece: (n) => `,"k${n}":${n}`, tail: () => '}' },
  { name: 'repeated members', head: '{"a":1', piece: () => ',"a":1', tail: () => '}' },
  { name: 'escapes', head: '"', piece: () => '\\u0041', tail: () => '"' },
  { name: 'backslashes', head: '"', piece: () => '\\\\', tail: () => '"' },
  { name: 'words', head: '"', piece: () => 'word ', tail: () => '"' },
  { name: 'digits', piece: () => '9' },
  { name: 'spaces', head: '[', piece: () => ' ', tail: () => ']' },
];
