import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { parsePlainYaml } from '../../src/fibers/plain-yaml.ts';

/** What the library says, or `undefined` where it finds a fault. */
function library(text: string): { value: unknown } | undefined {
  const document = parseDocument(text, { logLevel: 'error' });
  return document.errors.length > 0 ? undefined : { value: document.toJS() ?? {} };
}

/** How many of the texts the plain reader answers for, and those on which the library says something else. */
function disagreements(texts: readonly string[]): { answered: number; wrong: string[] } {
  const answered = texts.filter((text) => parsePlainYaml(text) !== undefined);
  const wrong = answered.filter((text) => !isDeepStrictEqual(library(text), { value: parsePlainYaml(text) }));
  return { answered: answered.length, wrong };
}

const key = fc.oneof(
  fc.constantFrom(
    'id',
    'name',
    'status',
    'tags',
    'svc',
    'created-at',
    'a',
    'b',
    'null',
    'true',
    '__proto__',
    '<<',
  ),
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_-]{0,4}$/),
);
const nastyText = fc
  .array(
    fc.constantFrom(
      ...['a', 'B', '7', '0', '.', '-', '+', ':', ': ', ' #', '#', ' ', '[', ']', '{', '}', ',', '"', "'"],
      ...[
        '\\',
        '|',
        '>',
        '&',
        '*',
        '!',
        '%',
        '@',
        '`',
        '?',
        '? ',
        '~',
        'é',
        '漢',
        '=',
        '/',
        '_',
        '<',
        '\u00a0',
        '🙂',
      ],
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));
const scalar = fc.oneof(
  fc.constantFrom(
    '',
    '~',
    'null',
    'True',
    'false',
    'yes',
    '0',
    '-0',
    '007',
    '+1',
    '1.5',
    '1e3',
    '.5',
    '0x1F',
    '0o7',
  ),
  fc.constantFrom(
    '2026-01-31T02:40:05.884Z',
    '2026-02-14',
    '.inf',
    '-.INF',
    '.nan',
    '1_000',
    '12:30',
    '- a',
    '-',
    '--- a',
  ),
  fc.constantFrom(
    '[a, b]',
    '[a, ]',
    '[]',
    '{}',
    '{a: 1, b: x}',
    '{a: 1, a: 2}',
    '[a:b, http://x/y]',
    '{a}',
    '[[a]]',
    '{a: }',
  ),
  fc.constantFrom(
    '"a b" # c',
    "'it' #x",
    '"x"#y',
    '|',
    '>-',
    '&x a',
    '*x',
    '!!str 1',
    'a # b',
    'a #',
    'a#b',
    '# c',
    '<<',
  ),
  fc.string({ maxLength: 12 }).map((text) => text.replaceAll('\n', ' ')),
  nastyText,
);
const line = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom('', '', '', '  ', '    '), key, scalar)
      .map(([i, k, s]) => `${i}${k}: ${s}`),
  },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom('', '  ', '    '), scalar).map(([i, s]) => `${i}- ${s}`) },
  fc.tuple(fc.constantFrom('', '  ', ' '), key).map(([i, k]) => `${i}${k}:`),
  fc.tuple(fc.constantFrom('', '  ', ' '), nastyText).map(([i, s]) => i + s),
  fc.constantFrom('', '  ', '# comment', '   # deep', '-', '...'),
);
const yamlText = fc
  .tuple(fc.array(line, { maxLength: 8 }), fc.constantFrom('\n', '\r\n'))
  .map(([lines, eol]) => lines.map((entry) => entry + eol).join(''));

describe('parsePlainYaml', () => {
  it('agrees with the YAML library on every text that it accepts', () => {
    fc.assert(
      fc.property(yamlText, (text) => {
        const plain = parsePlainYaml(text);
        if (plain === undefined) return;
        expect(library(text)).toEqual({ value: plain });
      }),
      { numRuns: 6_000 },
    );
  });

  it('agrees with it on every value of up to three of the characters that YAML treats specially', () => {
    const characters = [...'aT07.-+:#[]{},"\'|>&*!%@`?~=</_\\ \té\u00a0🙂\r'];
    const upTo = (length: number): string[] =>
      length === 0 ? [''] : ['', ...upTo(length - 1).flatMap((text) => characters.map((one) => text + one))];
    const texts = [...new Set(upTo(3))].flatMap((value) => [`k: ${value}\n`, `k:\n- ${value}\n`]);
    const { answered, wrong } = disagreements(texts);
    expect(wrong).toEqual([]);
    expect(answered).toBeGreaterThan(10_000);
  });

  it('agrees with it on every order of four lines of these shapes', () => {
    const shapes = ['a:', 'b: 1', 'a: x', '  a:', '  c: [x, y]', ' b: 2', '- x', '  - y', '# c', '', '  x'];
    const lines = [...shapes, 'b: {a: 1}', '    - z', '-', 'a: |', '  "q": 1'];
    const texts = lines.flatMap((a) =>
      lines.flatMap((b) => lines.flatMap((c) => lines.map((d) => [a, b, c, d].join('\n')))),
    );
    const { answered, wrong } = disagreements(texts);
    expect(wrong).toEqual([]);
    expect(answered).toBeGreaterThan(500);
  });

  it('accepts the frontmatter of an ordinary fiber', () => {
    const text = [
      'id: 01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z            # minted',
      'name: Rewrite the loader',
      'status: active',
      'tempered: true',
      'tags: [methods, "x"]'.replace('"x"', 'x'),
      'created-at: 2026-01-31T02:40:05.884Z',
      'due: 2026-02-14',
      'collaboration: {reviewer: ada}',
      'roles:',
      '- one',
      '- two',
      'svc:',
      '  kind: standing',
      '  schedule: "0 9 * * 1-5"',
      '  runtime: {dispatched_at: 2026-01-31T02:40:05.884Z, run_id: r1}',
      '',
    ].join('\n');
    expect(parsePlainYaml(text)).toEqual(library(text)!.value);
  });
});
