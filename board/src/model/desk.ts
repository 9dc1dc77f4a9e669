import { type Card, cardOf } from './card.ts';
import type { Place } from './classify.ts';
import type { Day } from './days.ts';
import type { FeedCopy } from './feed-copy.ts';
import { type Aged, agedOf, type HostLine, notFresh } from './hosts.ts';
import type { FiberRow } from './wire.ts';
import { returnHeading } from './wording.ts';

/** Cards below a heading of their own. */
type Group = { heading: string; cards: readonly Card[] };

export type Desk = Readonly<Record<NonNullable<Place>, readonly Card[]>> & {
  pinned: readonly Card[];
  /** The resting cards again, by the day on which they come back. */
  returning: readonly Group[];
  /** How many starts wait since the daemon that answers restarted. */
  held_since_restart: number;
  /** The other hosts that are not fresh, what is wrong first. */
  not_fresh: readonly HostLine[];
};

export const EMPTY_DESK: Desk = {
  drafts: [],
  needs_you: [],
  working: [],
  blocked: [],
  review: [],
  scheduled: [],
  resting: [],
  pinned: [],
  returning: [],
  held_since_restart: 0,
  not_fresh: [],
};

/** The card of a row, made once for each row, day, and last word of a host that is not fresh, and their order. */
export class CardCache {
  #cards = new WeakMap<FiberRow, Card>();
  #day: Day | null = null;
  readonly #sorted = new Map<string, { of: readonly Card[]; sorted: readonly Card[] }>();

  /** The cards of a place in their order: the same list while they are the same cards. */
  sorted(place: string, of: readonly Card[], by: (a: Card, b: Card) => number): readonly Card[] {
    const known = this.#sorted.get(place);
    if (known?.of.length === of.length && known.of.every((card, at) => card === of[at])) return known.sorted;
    const sorted = of.toSorted(by);
    this.#sorted.set(place, { of, sorted });
    return sorted;
  }

  cardOf(row: FiberRow, today: Day, aged: Aged | null = null): Card {
    if (this.#day !== today) {
      this.#cards = new WeakMap();
      this.#day = today;
    }
    const known = this.#cards.get(row);
    if (known !== undefined && isSame(known.aged, aged)) return known;
    const card = cardOf(row, today, aged);
    this.#cards.set(row, card);
    return card;
  }
}

function isSame(a: Aged | null, b: Aged | null): boolean {
  return a === b || (a !== null && b !== null && a.at === b.at);
}

export function deskOf(copy: FeedCopy, today: Day, cache: CardCache): Desk {
  const places: Record<NonNullable<Place>, Card[]> = {
    drafts: [],
    needs_you: [],
    working: [],
    blocked: [],
    review: [],
    scheduled: [],
    resting: [],
  };
  const pinned: Card[] = [];
  let held_since_restart = 0;
  const aged = new Map([...copy.hosts.keys()].map((origin) => [origin, agedOf(copy, { origin })]));
  for (const row of copy.rows.values()) {
    const card = cache.cardOf(row, today, aged.get(row.origin) ?? null);
    if (card.place !== null) places[card.place].push(card);
    if (card.pinned) pinned.push(card);
    if (row.held === 'boot_quarantine' && row.origin === copy.host) held_since_restart += 1;
  }
  const in_order = (place: NonNullable<Place>) => cache.sorted(place, places[place], byRank);
  const resting = cache.sorted('resting', places.resting, byReturn);
  return {
    drafts: in_order('drafts'),
    needs_you: in_order('needs_you'),
    working: in_order('working'),
    blocked: in_order('blocked'),
    review: in_order('review'),
    scheduled: in_order('scheduled'),
    resting,
    pinned: cache.sorted('pinned', pinned, byTitle),
    returning: groupsOf(resting, today),
    held_since_restart,
    not_fresh: notFresh(copy),
  };
}

/** The groups of a sorted list of resting cards. */
function groupsOf(resting: readonly Card[], today: Day): Group[] {
  const groups = new Map<string, Card[]>();
  for (const card of resting) {
    const heading = returnHeading(card.returns, today);
    const cards = groups.get(heading);
    if (cards === undefined) groups.set(heading, [card]);
    else cards.push(card);
  }
  return [...groups].map(([heading, cards]) => ({ heading, cards }));
}

function byRank(a: Card, b: Card): number {
  return a.rank - b.rank || byTitle(a, b);
}

function byReturn(a: Card, b: Card): number {
  if (a.returns !== b.returns)
    return a.returns === null ? 1 : b.returns === null ? -1 : byText(a.returns, b.returns);
  return byTitle(a, b);
}

function byTitle(a: Card, b: Card): number {
  return byText(a.title, b.title) || byText(a.key, b.key);
}

/** By code units: several times as fast as a collation, and the same everywhere. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
