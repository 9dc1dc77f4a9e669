import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Card } from '../../../board/src/model/card.ts';
import { CardCache, type Desk, deskOf } from '../../../board/src/model/desk.ts';
import {
  draftItems,
  inFlightItems,
  railItems,
  reviewItems,
  yourItems,
} from '../../../board/src/model/lists.ts';
import type { FiberRow } from '../../../board/src/model/wire.ts';
import { copyOf, live, row } from './rows.ts';

const TODAY = '2026-11-23';

function desk(rows: FiberRow[], cache = new CardCache()): Desk {
  return deskOf(copyOf(rows), TODAY, cache);
}

const ids = (cards: readonly Card[]) => cards.map(({ id }) => id);
const active = { status: 'active' as const, svc: { agent: 'atlas' } };

describe('the order of cards', () => {
  it('puts the longest wait first, the latest start, the latest end, and what is late before other drafts', () => {
    const found = desk([
      row({ id: 'asked-late', ...active, runtime: live({ phase: 'waiting', phase_since: 20 }) }),
      row({ id: 'asked-early', ...active, runtime: live({ phase: 'waiting', phase_since: 10 }) }),
      row({ id: 'old', ...active, runtime: live({ started_at: 10 }) }),
      row({ id: 'new', ...active, runtime: live({ started_at: 20 }) }),
      row({ id: 'closed-first', status: 'closed', closed_at: '2026-11-20T00:00:00Z' }),
      row({ id: 'closed-last', status: 'closed', closed_at: '2026-11-22T00:00:00Z' }),
      row({ id: 'fresh-draft', created_at: '2026-11-22T00:00:00Z' }),
      row({ id: 'late', due: '2026-11-20', created_at: '2026-01-01T00:00:00Z' }),
      row({ id: 'old-draft', created_at: '2026-11-01T00:00:00Z' }),
    ]);
    expect(ids(found.needs_you)).toEqual(['asked-early', 'asked-late']);
    expect(ids(found.working)).toEqual(['new', 'old']);
    expect(ids(found.review)).toEqual(['closed-last', 'closed-first']);
    expect(ids(found.drafts)).toEqual(['late', 'fresh-draft', 'old-draft']);
  });

  it('does not depend on the order of rows, nor on activity, outcomes or what workers say', () => {
    const rows = ['a', 'b', 'c', 'd', 'e'].map((id, index) =>
      row({
        id,
        ...active,
        runtime: live({ started_at: index % 2, phase: index < 3 ? 'working' : 'waiting' }),
      }),
    );
    const order = (of: FiberRow[]) => [ids(desk(of).working), ids(desk(of).needs_you)];
    fc.assert(
      fc.property(
        fc.shuffledSubarray(rows, { minLength: rows.length }),
        fc.nat(),
        fc.string(),
        (shuffled, at, said) => {
          const moved = shuffled.map((one) => ({
            ...one,
            outcome: said,
            runtime: { ...one.runtime!, last_activity_at: at, said },
          }));
          expect(order(moved)).toEqual(order(rows));
        },
      ),
    );
  });

  it('groups what rests by the day of its return, without a date last', () => {
    const rests = (id: string, due?: string) => row({ id, horizon: 'stashed', ...(due && { due }) });
    const found = desk([
      rests('never'),
      rests('january', '2027-01-04'),
      rests('thursday', '2026-11-26'),
      rests('late-december', '2026-12-20'),
      rests('december', '2026-12-02'),
      rests('tomorrow', '2026-11-24'),
    ]);
    expect(found.returning.map(({ heading, cards }) => [heading, ids(cards)])).toEqual([
      ['Tomorrow, Tue 24', ['tomorrow']],
      ['Thursday 26', ['thursday']],
      ['December', ['december', 'late-december']],
      ['January 2027', ['january']],
      ['No date', ['never']],
    ]);
  });
});

describe('the lists of the Desk', () => {
  it('name every fiber that is not put away once, whatever fibers there are', () => {
    const status = fc.constantFrom('open' as const, 'active' as const, 'closed' as const);
    const any = fc.record({
      status,
      tempered: fc.constantFrom(undefined, true, false),
      horizon: fc.constantFrom(undefined, 'stashed'),
      due: fc.constantFrom(undefined, '2026-11-01', '2026-12-01', 'x'),
      kind: fc.constantFrom('oneshot' as const, 'standing' as const, 'pinned' as const),
      phase: fc.constantFrom(null, 'working' as const, 'waiting' as const, 'idle' as const),
      gate: fc.constantFrom(undefined, 'due' as const, 'cooldown' as const),
    });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 12 }), (facts) => {
        const rows = facts.map(({ kind, phase, tempered, horizon, due, gate, status }, index) =>
          row({
            id: `fiber-${index}`,
            status,
            svc: { kind },
            ...(tempered === undefined ? {} : { tempered }),
            ...(horizon && { horizon }),
            ...(due && { due }),
            ...(gate && { gate }),
            ...(phase && { runtime: live({ phase }) }),
          }),
        );
        const found = desk(rows);
        const lists = [draftItems(found), inFlightItems(found), reviewItems(found)];
        const shown = lists.flat().flatMap((item) => (item.kind === 'card' ? [item.card.id] : []));
        const rail = railItems(found).flatMap((item) => (item.kind === 'line' ? [item.card.id] : []));
        const put_away = rows.filter((one) => one.status === 'closed' && one.tempered !== undefined);
        expect(new Set(shown).size).toBe(shown.length);
        expect([...new Set([...shown, ...rail])].sort()).toEqual(
          rows
            .filter((one) => !put_away.includes(one))
            .map(({ id }) => id)
            .sort(),
        );
        for (const list of [...lists, railItems(found), yourItems(found)]) {
          expect(list.length).toBeGreaterThan(0);
          expect(new Set(list.map(({ key }) => key)).size).toBe(list.length);
        }
      }),
    );
  });

  it('say so where there is nothing', () => {
    const texts = [draftItems, inFlightItems, reviewItems, railItems].map((items) => items(desk([])));
    expect(texts.flat().map((item) => (item.kind === 'empty' ? item.text : item.kind))).toEqual([
      'Nothing is drafted.',
      'No workers are running.',
      'Nothing is waiting for you.',
      'Nothing is pinned, scheduled or resting.',
    ]);
  });

  it('counts what is held since the restart', () => {
    expect(
      desk([row({ ...active, held: 'boot_quarantine' }), row({ id: 'b', held: 'killed' })]),
    ).toMatchObject({
      held_since_restart: 1,
    });
  });

  it('makes a card once for each row and day', () => {
    const cache = new CardCache();
    const one = row();
    expect(cache.cardOf(one, TODAY)).toBe(cache.cardOf(one, TODAY));
    expect(cache.cardOf(one, '2026-11-24')).not.toBe(cache.cardOf(one, TODAY));
  });
});
