import type { Seeded } from '../../../faults/seeded.ts';

/** No input grows much over this many bytes. */
const MOST_BYTES = 192 * 1024;
/** How often a rule is repeated; what shows most comes first. */
const COUNTS = [1_000, 20_000, 200, 100_000, 5_000, 30];

export function pick<T>(random: Seeded, from: readonly T[]): T {
  return from[random.whole(0, from.length - 1)]!;
}

/** Some texts joined, `least` to `most` of them. */
export function several(random: Seeded, least: number, most: number, make: () => string, joint = ''): string {
  return Array.from({ length: random.whole(least, most) }, make).join(joint);
}

/** A text that is repeated: the n-th piece of it, counted from 0. */
export type Pump = { name: string; piece(n: number): string; head?: string; tail?(n: number): string };

/** The pump of a turn, repeated: turns go through all pumps, then through them again with another count. */
export function pumped(turn: number, pumps: readonly Pump[]): { name: string; text: string } {
  const pump = pumps[turn % pumps.length]!;
  const wanted = COUNTS[Math.floor(turn / pumps.length) % COUNTS.length]!;
  const pieces: string[] = [];
  let length = 0;
  for (let n = 0; n < wanted && length < MOST_BYTES; n += 1) {
    const piece = pump.piece(n);
    pieces.push(piece);
    length += piece.length;
  }
  return { name: pump.name, text: (pump.head ?? '') + pieces.join('') + (pump.tail?.(pieces.length) ?? '') };
}

const ODD_BYTES = [
  '\0',
  '\t',
  '\r',
  '\r\n',
  '\n',
  ' ',
  '\u2028',
  '\ufeff',
  '\u001b',
  '"',
  "'",
  '\\',
  '{',
  '}',
  '[',
  ']',
  ':',
  '-',
  '#',
  '&',
  '*',
  '!',
  '%',
  '`',
  '|',
  '\ud83d\ude00',
  'e\u0301',
  '\u202e',
];

/** A text as bytes, now and then with a few of them changed, left out, doubled or made something odd. */
export function damaged(random: Seeded, text: string): Buffer {
  let bytes = Buffer.from(text);
  if (random.chance(0.65)) return bytes;
  for (let change = random.whole(1, 4); change > 0; change -= 1) {
    const at = random.whole(0, bytes.length);
    const to = Math.min(bytes.length, at + random.whole(0, 24));
    const cut = bytes.subarray(at, to);
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(to)];
    bytes = Buffer.concat(
      pick(random, [
        () => [before, after],
        () => [before, cut, cut, after],
        () => [before, Buffer.from(pick(random, ODD_BYTES)), after],
        () => [before, Buffer.from([random.whole(0, 255)]), cut, after],
        () => [bytes.subarray(0, at)],
      ])(),
    );
  }
  return random.chance(0.1)
    ? Buffer.from(bytes.toString('latin1').replaceAll('\n', '\r\n'), 'latin1')
    : bytes;
}

export const WORDS = [
  'a',
  'the',
  'id',
  'null',
  'true',
  'no',
  '1',
  '0x1f',
  '1e3',
  '.5',
  '-',
  '~',
  'über',
  '日本',
  'https://a.b/c?d#e',
  'key: value',
  "it's",
  '"quoted"',
  '# no',
  '2026-01-01',
  '12:30',
  '<<',
  '[[link]]',
  'x'.repeat(80),
];
