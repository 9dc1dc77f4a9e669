import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeForTerminal } from '../../../src/base/terminal-text.ts';
import { cutEnd, cutMiddle, lengthOf } from '../../../src/cli/command-line/fit-width.ts';
import {
  formatAge,
  formatClock,
  formatDue,
  formatDuration,
  formatMoment,
  formatTable,
  withClock,
} from '../../../src/cli/command-line/output.ts';
import { paint, type Styled } from '../../../src/cli/command-line/styled-text.ts';
import { chooseAddress } from '../../../src/cli/daemon-client/client.ts';

const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

describe('what svc prints', () => {
  it('aligns columns', () => {
    expect(
      formatTable(
        ['a', 'bee'],
        [
          ['long one', 'x'],
          ['é', ''],
        ],
        80,
      ),
    ).toBe('A         BEE\nlong one  x\né\n');
  });

  it('breaks no cell of a table that fits', () => {
    const cell = fc
      .array(fc.stringMatching(/^[a-z]{1,9}$/), { minLength: 1, maxLength: 4 })
      .map((words) => words.join(' '));
    const rows = fc.array(fc.tuple(cell, cell, cell, cell, cell), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(rows, fc.integer({ min: 60, max: 200 }), (shown, width) => {
        const header = ['a', 'b', 'c', 'd', 'e'];
        const needed = header.reduce(
          (sum, _, at) => sum + Math.max(...shown.map((row) => row[at]!.length)),
          8,
        );
        const lines = formatTable(header, shown, width).trimEnd().split('\n');
        if (needed <= width) expect(lines).toHaveLength(shown.length + 1);
        for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
      }),
    );
  });

  it('keeps one row per line without control characters, whatever the cells contain', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text)), (rows) => {
        const table = formatTable(['one', 'two'], rows, Number.POSITIVE_INFINITY);
        expect(table.split('\n')).toHaveLength(rows.length + 1);
        for (const line of table.split('\n').slice(0, -1)) expect(line.split('\t')).toHaveLength(2);
        expect(table).not.toMatch(unsafe);
      }),
    );
  });

  it('gives a long first cell a line of its own before it gives up the table', () => {
    const long = 'write-the-release-notes-for-the-autumn-release-of-the-product';
    const rows = [
      ['loader', 'active', 'Rewrite the loader so that it reads each file once'],
      [long, 'open', 'Notes'],
    ];
    expect(formatTable(['id', 'status', 'name'], rows, 80).split('\n')).toEqual([
      'ID      STATUS  NAME',
      'loader  active  Rewrite the loader so that it reads each file once',
      long,
      '        open    Notes',
      '',
    ]);
  });

  it.each([
    [0, '0 s'],
    [999, '0 s'],
    [-5, '0 s'],
    [1_000, '1 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [3_600_000, '1 h'],
    [12_000_000, '3 h 20 min'],
    [86_400_000, '1 day'],
    [172_800_000, '2 days'],
  ])('shows %i ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('shows how long ago something was or how far ahead it is due, and from a day on when it is', () => {
    expect([formatMoment(0, 5_000), formatDue(0, 5_000)]).toEqual(['5 s ago', '5 s ago']);
    expect([formatDue(5_000, 0), formatMoment(5_000, 0)]).toEqual(['in 5 s', '0 s ago']);
    const now = new Date(2025, 10, 21, 14, 0).getTime();
    const at = (day: number, hour: number, month = 10, year = 2025) =>
      new Date(year, month, day, hour).getTime();
    expect(formatMoment(at(19, 9), now)).toBe('Wed 09:00');
    expect(formatMoment(at(21, 21), now)).toBe('21:00 by its clock');
    expect(formatMoment(at(23, 9), now)).toBe('Sun 09:00 by its clock');
    expect([formatDue(at(21, 21), now), formatDue(at(23, 9), now)]).toEqual(['in 7 h', 'Sun 09:00']);
    expect(formatMoment(at(1, 9), now)).toBe('1 Nov');
    expect(formatMoment(at(1, 9, 10, 2024), now)).toBe('1 Nov 2024');
    expect([formatAge(at(21, 12), now), formatAge(at(20, 12), now)]).toEqual(['2 h', 'Thu 12:00']);
    expect([formatClock(at(21, 15), now), formatClock(at(22, 2), now)]).toEqual(['15:00', 'Sat 02:00']);
  });

  it('tells the times in a sentence of the daemon as a clock does, but not what a person wrote', () => {
    const now = new Date(2025, 10, 21, 14, 0).getTime();
    const later = new Date(2025, 10, 22, 2, 0).toISOString();
    expect(withClock(`it is tried again at ${later}; see there`, now)).toBe(
      'it is tried again at Sat 02:00; see there',
    );
    expect(withClock(`'${later}' is not a date`, now)).toBe(`'${later}' is not a date`);
  });
});

describe('a text in colours', () => {
  const hostile = 'a\u001b[31mb';
  const text: Styled = ['plain ', { tone: 'you', text: hostile }, '\n'];

  it('has no sequence but its own, whatever its parts contain', () => {
    expect(paint(text, true, escapeForTerminal)).toBe('plain \u001b[33ma\\u001b[31mb\u001b[39m\n');
    expect(paint(text, false, escapeForTerminal)).toBe('plain a\\u001b[31mb\n');
  });
});

describe('what is cut to a width', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '漢', '👩‍💻', '/', ' '), maxLength: 60 });

  it('is at most so wide, and whole where it fits', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 4, max: 60 }), (given, width) => {
        for (const cut of [cutEnd, cutMiddle]) {
          expect(lengthOf(cut(given, width))).toBeLessThanOrEqual(width);
          expect(lengthOf(cut(given, width, '...'))).toBeLessThanOrEqual(width);
          if (lengthOf(given) <= width) expect(cut(given, width)).toBe(given);
        }
      }),
    );
  });

  it('of prose is its end, of a path its middle', () => {
    expect(cutEnd('Reads the merge list', 12)).toBe('Reads the m…');
    expect(cutMiddle('/srv/projects/tide/gauges', 16)).toBe('/srv/…ide/gauges');
  });
});

describe('the addresses of a daemon file', () => {
  it('are skipped without an error if they are not addresses', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (listen) => {
        const address = chooseAddress(listen);
        expect(address === null || 'socketPath' in address || address.port > 0).toBe(true);
      }),
    );
  });
});
