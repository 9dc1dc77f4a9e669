import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeForTerminal, oneLineFault } from '../../src/base/terminal-text.ts';

/** Written apart from the code: by ranges, not by properties of Unicode. */
const DANGEROUS: readonly [name: string, from: number, to: number][] = [
  ['C0 before tab', 0x00, 0x08],
  ['C0 after line feed', 0x0b, 0x1f],
  ['DEL and C1', 0x7f, 0x9f],
  ['soft hyphen', 0xad, 0xad],
  ['combining grapheme joiner', 0x34f, 0x34f],
  ['Arabic letter mark', 0x61c, 0x61c],
  ['zero-width characters and marks of direction', 0x200b, 0x200f],
  ['separators and embeddings', 0x2028, 0x202e],
  ['invisible operators and isolates', 0x2060, 0x206f],
  ['Hangul filler', 0x3164, 0x3164],
  ['surrogates', 0xd800, 0xdfff],
  ['variation selectors', 0xfe00, 0xfe0f],
  ['byte order mark', 0xfeff, 0xfeff],
  ['annotations', 0xfff9, 0xfffb],
  ['tags', 0xe0000, 0xe007f],
  ['more variation selectors', 0xe0100, 0xe01ef],
];

const isDangerous = (point: number) => DANGEROUS.some(([, from, to]) => point >= from && point <= to);

describe('text for a terminal', () => {
  it('escapes every code point that a terminal acts on or hides as \\uXXXX, and leaves all others unchanged', () => {
    const kept: string[] = [];
    const lost: string[] = [];
    for (let point = 0; point <= 0x10ffff; point += 1) {
      const character = String.fromCodePoint(point);
      const shown = escapeForTerminal(`a${character}b`).slice(1, -1);
      if (shown === character) {
        if (isDangerous(point)) kept.push(point.toString(16));
        continue;
      }
      if (!/^(?:\\u[0-9a-f]{4}){1,2}$/.test(shown) || JSON.parse(`"${shown}"`) !== character)
        throw new Error(`U+${point.toString(16)} became ${shown}`);
      if (/[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\p{Co}\n\t]/u.test(character) && !isDangerous(point))
        lost.push(point.toString(16));
    }
    expect(kept).toEqual([]);
    // Letters and marks that fonts draw as nothing at all.
    expect(lost).toEqual(['115f', '1160', '17b4', '17b5', '180b', '180c', '180d', '180f', 'ffa0']);
  });

  it('escapes every dangerous character, is idempotent, and keeps the value of JSON', () => {
    const pictures = ['\u200d', '\ufe0f', '❤', '👩', '💻', '🏽'];
    const unit = fc.oneof(
      fc.constantFrom('\u001b]8;;', '\u009b', '\u202e', '\r', '\n', '"', '\\', ...pictures),
      fc.string({ unit: 'binary', maxLength: 3 }),
      fc.integer({ min: 0xd800, max: 0xdfff }).map((half) => String.fromCharCode(half)),
    );
    fc.assert(
      fc.property(fc.array(unit), (parts) => {
        const text = parts.join('');
        const shown = escapeForTerminal(text);
        const rest = shown
          .replaceAll(/\p{Emoji}\ufe0f/gu, '')
          .replaceAll('\u200d', '')
          .replaceAll('\r\n', '');
        expect([...rest].filter((character) => isDangerous(character.codePointAt(0)!))).toEqual([]);
        expect(escapeForTerminal(shown)).toBe(shown);
        const json = JSON.stringify({ [text]: text });
        expect(JSON.parse(escapeForTerminal(json))).toEqual(JSON.parse(json));
      }),
      { numRuns: 1_000 },
    );
  });

  it('keeps emoji of several characters, and the line ends of every system', () => {
    for (const text of ['❤️ 👩‍💻 👩🏽‍🚀 🏳️‍🌈 1️⃣', 'a\r\nb\n\tc', 'Grüße, 日本語, नमस्ते, \ue0b0'])
      expect(escapeForTerminal(text)).toBe(text);
  });

  it.each([
    ['a joiner between letters', 'pay\u200dpal', 'pay\\u200dpal'],
    ['a form chosen for a letter', 'a\ufe0f', 'a\\ufe0f'],
    ['a carriage return that overwrites its line', 'safe\rrm', 'safe\\u000drm'],
    ['a tag beyond 16 bits', '\u{e0041}', '\\udb40\\udc41'],
    ['a title sequence', '\u001b]0;x\u0007', '\\u001b]0;x\\u0007'],
    ['a C1 sequence', '\u009b31m', '\\u009b31m'],
    ['a turned direction', 'gpj\u202eexe', 'gpj\\u202eexe'],
  ])('escapes %s', (_name, text, shown) => {
    expect(escapeForTerminal(text)).toBe(shown);
  });
});

describe('a text of one line', () => {
  it.each([
    ['ada', null],
    ['Größe 漢字 👩‍💻 ✔️', null],
    ['a\nb', 'has a line break; write it on one line'],
    ['a\r\nb', 'has a line break; write it on one line'],
    ['a\rb', 'has a line break; write it on one line'],
    ['a\tb', 'has the character U+0009, which is not shown as text; leave it out'],
    ['a\u202eb', 'has the character U+202E, which is not shown as text; leave it out'],
    ['\ufeffa', 'has the character U+FEFF, which is not shown as text; leave it out'],
  ])('%j: %s', (text, fault) => {
    expect(oneLineFault(text)).toBe(fault);
  });

  it('is one that is printed as it is, and no other', () => {
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom('\n', '\t', '\r', '\u200d', '\ufe0f', '👩', 'a'),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      ),
    });
    fc.assert(
      fc.property(text, (one) => {
        const is_plain = !/[\n\r\t]/.test(one) && escapeForTerminal(one) === one;
        expect(oneLineFault(one) === null).toBe(is_plain);
      }),
    );
  });
});
