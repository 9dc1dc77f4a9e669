import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstRows, MOST_IN_COLUMN } from '../../src/dispatch/first-rows.ts';

const NOW = Date.parse('2026-11-29T12:00:00Z');
type Standing = Parameters<typeof firstRows>[0][number] & { name: string };

function standing(
  name: string,
  document: Partial<Standing['document']>,
  given: Standing['given'] = {},
): Standing {
  return { name, document: { status: 'open', ...document }, given };
}
const at = (minute: number) => new Date(NOW - minute * 60_000).toISOString();
const many = (name: string, document: (index: number) => Partial<Standing['document']>) =>
  Array.from({ length: MOST_IN_COLUMN }, (_, index) => standing(`${name} ${index}`, document(index)));
const chosen = (rows: Standing[]) => firstRows(rows, NOW).map(({ name }) => name);

describe('the rows that a board shows first', () => {
  it.each([
    ['the newest drafts', standing('last', { created_at: at(500) }), (n: number) => ({ created_at: at(n) })],
    [
      'what was closed last of what awaits review',
      standing('last', { status: 'closed', closed_at: at(500) }),
      (n: number) => ({ status: 'closed' as const, closed_at: at(n) }),
    ],
    [
      'what is held back before what is only armed',
      standing('last', { status: 'active', created_at: at(0) }),
      (n: number) => ({ status: 'active' as const, created_at: at(n), due: '2026-11-01' }),
    ],
  ])('are %s', (_what, last, others) => {
    const rows = many('one', others);
    expect(chosen([last, ...rows])).toEqual(rows.map(({ name }) => name));
  });

  it('have workers first, then overdue fibers, then what is stopped', () => {
    const armed = many('armed', () => ({ status: 'active', created_at: at(0) }));
    const upper = [
      standing('runs', { status: 'active' }, { runtime: { started_at: 1 } }),
      standing('of an open document', {}, { runtime: { started_at: 1 } }),
      standing('overdue', { status: 'active', due: '2026-11-28' }),
      standing('held', { status: 'active' }, { held: 'killed' }),
      standing('blocked', { status: 'active' }, { blocked: {} }),
    ];
    const names = chosen([...armed, ...upper]);
    expect(names).toHaveLength(MOST_IN_COLUMN);
    expect(names.slice(-upper.length)).toEqual(upper.map(({ name }) => name));
  });

  it('have nothing that was judged, and text that is no time stands last', () => {
    expect(
      chosen([
        standing('accepted', { status: 'closed', tempered: true }),
        standing('set aside', { status: 'closed', tempered: false }),
        standing('odd', { created_at: 'yesterday' }),
      ]),
    ).toEqual(['odd']);
  });

  it('are some of the rows in their order, at most so many of each column, and all of few', () => {
    const document = fc.record({
      status: fc.constantFrom('open', 'active', 'closed'),
      created_at: fc.constantFrom(at(1), at(2), 'no time'),
    });
    fc.assert(
      fc.property(fc.array(document, { maxLength: 400 }), (documents) => {
        const rows = documents.map((one, index) => standing(String(index), one));
        const indexes = chosen(rows).map(Number);
        expect(indexes).toEqual(indexes.toSorted((a, b) => a - b));
        for (const status of ['open', 'active', 'closed']) {
          const all = documents.filter((one) => one.status === status).length;
          const told = indexes.filter((index) => documents[index]!.status === status).length;
          expect(told).toBe(Math.min(all, MOST_IN_COLUMN));
        }
      }),
    );
  });
});
