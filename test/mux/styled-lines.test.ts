import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { terminalMessageSchema } from '../../src/contract/http/terminal.ts';
import { styledLines } from '../../src/mux/styled-lines.ts';

const E = '\u001b';
const runsOf = (...lines: string[]) => styledLines(lines).map((json) => JSON.parse(json));

describe('a line of a terminal', () => {
  it.each([
    ['plain text', 'hello  world', ['hello  world']],
    ['nothing', '', []],
    ['blanks at its end', 'a   ', ['a']],
    ['one of the 8 colours', `${E}[31mred${E}[39m plain`, [{ text: 'red', fg: 1 }, ' plain']],
    ['a bright colour on another', `${E}[94;101mx`, [{ text: 'x', fg: 12, bg: 9 }]],
    ['one of 256 colours', `${E}[38;5;200;48;5;17mx`, [{ text: 'x', fg: 200, bg: 17 }]],
    ['true colour', `${E}[38;2;1;2;255;1mx`, [{ text: 'x', fg: '#0102ff', bold: true }]],
    ['true colour with colons', `${E}[38:2::1:2:3mx`, [{ text: 'x', fg: '#010203' }]],
    ['no name of a colour space', `${E}[48:2:1:2:3mx`, [{ text: 'x', bg: '#010203' }]],
    ['a colour of the underline', `${E}[4;58;5;3;31mx`, [{ text: 'x', underline: true, fg: 1 }]],
    ['a curly underline', `${E}[4:3mx${E}[4:0my`, [{ text: 'x', underline: true }, 'y']],
    [
      'every attribute, and their ends',
      `${E}[1;2;3;4;7;8;9mx${E}[22;23;24;27;28;29my`,
      [
        {
          ...{ text: 'x', bold: true, dim: true, italic: true },
          ...{ underline: true, reverse: true, hidden: true, strike: true },
        },
        'y',
      ],
    ],
    ['a reset', `${E}[1mx${E}[my`, [{ text: 'x', bold: true }, 'y']],
    ['a colour that there is not', `${E}[38;5;999mx`, ['x']],
    ['a code that is cut', `${E}[38;2;1mx`, ['x']],
    ['a blank with a background at its end', `${E}[44m  `, [{ text: '  ', bg: 4 }]],
    ['a blank without', `a${E}[1m  `, ['a']],
    ['a link', `${E}]8;;http://x.y${E}\\link${E}]8;;${E}\\ end`, ['link end']],
    ['line drawing', '\u000elqk\u000f lqk', ['┌─┐ lqk']],
    ['other sequences and control characters', `a${E}[2Kb\u0007c\u009bd`, ['abcd']],
    ['the same attributes twice', `${E}[1ma${E}[0m${E}[1mb`, [{ text: 'ab', bold: true }]],
  ])('with %s', (_, line, runs) => {
    expect(runsOf(line)).toEqual([runs]);
  });

  it('begins with the attributes of the end of the line before', () => {
    expect(runsOf(`${E}[32ma`, 'b', `c${E}[0md`)).toEqual([
      [{ text: 'a', fg: 2 }],
      [{ text: 'b', fg: 2 }],
      [{ text: 'c', fg: 2 }, 'd'],
    ]);
  });

  it('with very many attributes is told without them, and cut', () => {
    const many = Array.from({ length: 4_000 }, (_, n) => `${E}[38;5;${n % 256}mx`).join('');
    expect(runsOf(many, 'y')).toEqual([[`${'x'.repeat(2_000)}…`], [{ text: 'y', fg: 159 }]]);
  });

  it('is what the API describes, whatever a terminal prints', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.nat(300), { maxLength: 8 }).map((codes) => `${E}[${codes.join(';')}m`),
      fc.array(fc.nat(60), { maxLength: 8 }).map((codes) => `${E}[${codes.join(':')}m`),
      fc.constantFrom('\u000e', '\u000f', `${E}]8;;x${E}\\`, '   '),
    );
    const lines = fc.array(fc.array(piece).map((pieces) => pieces.join('')));
    fc.assert(
      fc.property(lines, (raw) => {
        const message = {
          ...{ state: 'screen', first: 0, top: 0, end: raw.length, columns: 80, stale: null },
          lines: runsOf(...raw).map((runs, n) => ({ n, runs })),
        };
        expect(terminalMessageSchema.parse(message)).toEqual(message);
        expect(JSON.stringify(message)).not.toMatch(/\\u00[01]|[\u007f-\u009f]/);
      }),
    );
  });
});
