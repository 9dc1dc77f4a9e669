import type { Card } from './card.ts';
import { type Day, dayOf, daysBetween } from './days.ts';
import type { CardCache, Desk } from './desk.ts';
import type { FeedCopy } from './feed-copy.ts';
import { agedOf } from './hosts.ts';
import type { Item } from './lists.ts';
import { shortDay, timeIn } from './wording.ts';

/** What rests, below the day on which it comes back. */
export function shelfItems({ returning }: Pick<Desk, 'returning'>): Item[] {
  return orEmpty(
    returning.flatMap(({ heading, cards }) => below(heading, cards)),
    'Nothing rests. The menu of a card lets its fiber rest until a day.',
  );
}

/** What was closed, the last one first, below the day of its end; only the cards that `passes` lets through. */
export function chronicleItems(
  copy: FeedCopy,
  today: Day,
  cache: CardCache,
  passes: (card: Card) => boolean,
): Item[] {
  const closed: { at: number; card: Card }[] = [];
  for (const row of copy.rows.values()) {
    const at = row.status === 'closed' ? timeIn(row.closed_at) : null;
    if (at === null) continue;
    const card = cache.cardOf(row, today, agedOf(copy, row));
    if (passes(card)) closed.push({ at, card });
  }
  closed.sort((a, b) => b.at - a.at || (a.card.key < b.card.key ? -1 : 1));
  const days = new Map<Day, Card[]>();
  for (const { at, card } of closed) {
    const day = dayOf(at);
    const cards = days.get(day);
    if (cards === undefined) days.set(day, [card]);
    else cards.push(card);
  }
  return orEmpty(
    [...days].flatMap(([day, cards]) => below(dayHeading(day, today), cards)),
    'Nothing that was closed is here.',
  );
}

function below(text: string, cards: readonly Card[]): Item[] {
  return [
    { kind: 'heading', key: text, text, count: cards.length, level: 'section' },
    ...cards.map((card): Item => ({ kind: 'card', key: card.key, card })),
  ];
}

function orEmpty(items: Item[], text: string): Item[] {
  return items.length === 0 ? [{ kind: 'empty', key: 'empty', text }] : items;
}

function dayHeading(day: Day, today: Day): string {
  const ago = daysBetween(day, today);
  return ago === 0 ? 'Today' : ago === 1 ? 'Yesterday' : shortDay(day, today);
}
