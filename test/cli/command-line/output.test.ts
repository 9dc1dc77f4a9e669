import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, formatMoment, formatTable } from '../../../src/cli/command-line/output.ts';
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
      ),
    ).toBe('A         BEE\nlong one  x\né\n');
  });

  it('keeps one row per line without control characters, whatever the cells contain', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text)), (rows) => {
        const table = formatTable(['one', 'two'], rows);
        expect(table.split('\n')).toHaveLength(rows.length + 2);
        expect(table).not.toMatch(unsafe);
      }),
    );
  });

  it.each([
    [0, '0 s'],
    [999, '0 s'],
    [-5, '0 s'],
    [1_000, '1 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [3_600_000, '1 h'],
    [172_800_000, '2 d'],
  ])('shows %i ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('shows whether a time is past or future', () => {
    expect([formatMoment(0, 5_000), formatMoment(5_000, 0)]).toEqual(['5 s ago', 'in 5 s']);
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
