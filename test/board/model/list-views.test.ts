import { describe, expect, it } from 'vitest';
import { CardCache, deskOf } from '../../../board/src/model/desk.ts';
import { chronicleItems, shelfItems } from '../../../board/src/model/list-views.ts';
import type { Item } from '../../../board/src/model/lists.ts';
import { copyOf, row } from './rows.ts';

const TODAY = '2026-11-23';
const shown = (items: readonly Item[]) =>
  items.map((one) =>
    one.kind === 'heading'
      ? `${one.text} ${one.count}`
      : 'card' in one
        ? `${one.card.id} ${one.card.state}`
        : one.kind,
  );

describe('the Chronicle', () => {
  const copy = copyOf([
    row({ id: 'noon', status: 'closed', tempered: true, closed_at: '2026-11-23T12:00:00Z' }),
    row({ id: 'morning', status: 'closed', tempered: false, closed_at: '2026-11-23T11:00:00Z' }),
    row({ id: 'before', status: 'closed', closed_at: '2026-11-22T12:00:00Z' }),
    row({ id: 'long-ago', status: 'closed', tempered: true, closed_at: '2025-01-02T12:00:00Z' }),
    row({ id: 'never-said-when', status: 'closed', tempered: true }),
    row({ id: 'open' }),
  ]);

  it('shows what was closed by day, the last one first, with its verdict', () => {
    expect(shown(chronicleItems(copy, TODAY, new CardCache(), () => true))).toEqual([
      'Today 2',
      'noon accepted',
      'morning set_aside',
      'Yesterday 1',
      'before review',
      '2 Jan 2025 1',
      'long-ago accepted',
    ]);
  });

  it('shows what a filter lets through, and says where that is nothing', () => {
    const filtered = (id: string) =>
      shown(chronicleItems(copy, TODAY, new CardCache(), (card) => card.id === id));
    expect(filtered('before')).toEqual(['Yesterday 1', 'before review']);
    expect(filtered('open')).toEqual(['empty']);
  });
});

describe('the Shelf', () => {
  const shelf = (...rows: ReturnType<typeof row>[]) =>
    shown(shelfItems(deskOf(copyOf(rows), TODAY, new CardCache())));

  it('shows what rests by the day of its return, and says where nothing does', () => {
    expect(
      shelf(
        row({ id: 'some-day', horizon: 'stashed' }),
        row({ id: 'tomorrow', horizon: 'stashed', due: '2026-11-24' }),
        row({ id: 'draft' }),
      ),
    ).toEqual(['Tomorrow, Tue 24 1', 'tomorrow resting', 'No date 1', 'some-day resting']);
    expect(shelf(row({ id: 'draft' }))).toEqual(['empty']);
  });
});
