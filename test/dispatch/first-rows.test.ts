import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CardCache, deskOf } from '../../board/src/model/desk.ts';
import { type FeedCopy, keyOf } from '../../board/src/model/feed-copy.ts';
import { draftItems, type Item, inFlightItems, reviewItems } from '../../board/src/model/lists.ts';
import type { FiberRow } from '../../board/src/model/wire.ts';
import { firstRows, MOST_IN_COLUMN } from '../../src/dispatch/first-rows.ts';
import { blocked, live, row } from '../board/model/rows.ts';

const NOW = Date.parse('2026-11-29T12:00:00Z');
const TODAY = '2026-11-29';
const at = (minute: number) => new Date(NOW - minute * 60_000).toISOString();
const first = (rows: readonly FiberRow[]) =>
  firstRows(
    rows.map((one) => ({ document: one, given: one, row: one })),
    NOW,
  ).map((one) => one.row);

/** The cards of the columns, as the board shows them from top to bottom. */
function columnsOf(rows: readonly FiberRow[]): Record<string, string[]> {
  const copy: FeedCopy = {
    ...{ host: 'host-a', state: 'fresh', tag: null, hosts: new Map() },
    rows: new Map(rows.map((one) => [keyOf(one), one])),
  };
  const desk = deskOf(copy, TODAY, new CardCache());
  const keys = (items: readonly Item[]) => items.flatMap((item) => (item.kind === 'card' ? [item.key] : []));
  return {
    drafts: keys(draftItems(desk)),
    in_flight: keys(inFlightItems(desk)),
    review: keys(reviewItems(desk)),
  };
}

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
/** Times differ, for cards of one time are in the order of their titles. */
const standing = fc.record({
  status: fc.constantFrom('open', 'active', 'closed'),
  tempered: maybe(fc.boolean()),
  due: maybe(fc.constantFrom('2026-11-20', '2027-01-01', 'soon')),
  horizon: maybe(fc.constant('stashed')),
  svc: maybe(fc.record({ kind: fc.constantFrom('oneshot', 'standing', 'pinned') })),
  held: maybe(fc.constant('killed')),
  blocked: maybe(fc.constantFrom(blocked, { ...blocked, reason: 'usage_limit' })),
  gate: maybe(fc.constantFrom('cooldown', 'due')),
  runtime: maybe(
    fc.record({
      state: fc.constantFrom('claimed', 'starting', 'running', 'unknown'),
      phase: fc.constantFrom('working', 'waiting', 'attention', 'idle', 'unknown'),
    }),
  ),
});

function rowOf(of: typeof standing extends fc.Arbitrary<infer T> ? T : never, index: number): FiberRow {
  const { runtime, blocked: refused, ...rest } = of;
  const known = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const id = `f${index}`;
  return row({
    ...{ id, path: `/store/.fibers/${id}/${id}.md`, name: id, created_at: at(index), closed_at: at(index) },
    ...(known as Partial<FiberRow>),
    ...(refused && { blocked: { ...refused, first_attempted_at: NOW - index } }),
    ...(runtime && { runtime: live({ ...runtime, started_at: NOW - index, phase_since: NOW - index }) }),
  });
}

describe('the rows that a board shows first', () => {
  it('have the upper cards of each column of the board, in its order', () => {
    fc.assert(
      fc.property(fc.array(standing, { maxLength: 300, size: 'max' }), (many) => {
        const rows = many.map(rowOf);
        const [all, shown] = [columnsOf(rows), columnsOf(first(rows))];
        for (const [column, cards] of Object.entries(all))
          expect(shown[column]!.slice(0, 20), column).toEqual(cards.slice(0, 20));
      }),
      // A counterexample of so many rows takes minutes to shrink.
      { numRuns: 40, endOnFailure: true },
    );
  });

  it('have every worker that waits for a person, however many work', () => {
    const works = Array.from({ length: 300 }, (_, n) =>
      rowOf({ status: 'active', runtime: { state: 'running', phase: 'working' } } as never, n),
    );
    const asks = rowOf({ status: 'active', runtime: { state: 'running', phase: 'waiting' } } as never, 1_000);
    const shown = first([...works, asks]);
    expect(shown).toHaveLength(MOST_IN_COLUMN);
    expect(shown).toContain(asks);
  });

  it('are some of the rows in their order, and nothing that was judged', () => {
    fc.assert(
      fc.property(fc.array(standing, { maxLength: 200 }), (many) => {
        const rows = many.map(rowOf);
        const shown = first(rows);
        const indexes = shown.map((one) => rows.indexOf(one));
        expect(indexes).toEqual(indexes.toSorted((a, b) => a - b));
        expect(shown.every((one) => one.status !== 'closed' || one.tempered === undefined)).toBe(true);
      }),
    );
  });
});
