import type { Card } from './card.ts';
import type { Desk } from './desk.ts';
import { type Facet, facetOf } from './facets.ts';
import type { HostLine } from './hosts.ts';
import type { CardState } from './states.ts';

/** What stands in a list of the Desk, from top to bottom. */
export type Item =
  | {
      kind: 'heading';
      key: string;
      text: string;
      count: number;
      level: 'section' | 'group' | 'day';
      /** Of all cards below it, which then have no glyph of their own. */
      state?: CardState;
    }
  | { kind: 'card'; key: string; card: Card }
  /** A card in one line. */
  | { kind: 'line'; key: string; card: Card }
  | { kind: 'hosts'; key: string }
  | { kind: 'host'; key: string; line: HostLine }
  | { kind: 'empty'; key: string; text: string };

const NO_DRAFTS = 'Nothing is drafted.';
const NO_WORKERS = 'No workers are running.';
const NOTHING_TO_REVIEW = 'Nothing is waiting for you.';
const NOTHING_AT_REST = 'Nothing is pinned, scheduled or resting.';

export function draftItems({ drafts }: Pick<Desk, 'drafts'>, by: Facet | null = null): Item[] {
  return orEmpty(grouped('', drafts, by), NO_DRAFTS);
}

export function inFlightItems(
  { needs_you, working, blocked }: Pick<Desk, 'needs_you' | 'working' | 'blocked'>,
  by: Facet | null = null,
): Item[] {
  const items = [
    ...group('Needs you', ofState(needs_you, 'waiting'), by),
    ...group('Needs a look', ofState(needs_you, 'unknown'), by),
    ...group('Working', ofState(working, 'working', 'idle'), by),
    ...group('State unknown', ofState(working, 'unknown'), by),
    ...group('Starting', ofState(working, 'launching', 'due'), by),
    ...group('Blocked', ofState(blocked, 'blocked', 'delayed', 'elsewhere'), by),
    ...group('Held back', ofState(blocked, 'held'), by),
  ];
  return orEmpty(items, NO_WORKERS);
}

function ofState(cards: readonly Card[], ...states: CardState[]): Card[] {
  return cards.filter(({ state }) => states.includes(state));
}

export function reviewItems({ review }: Pick<Desk, 'review'>, by: Facet | null = null): Item[] {
  return orEmpty(grouped('', review, by), NOTHING_TO_REVIEW);
}

/** What a person on a phone has to answer, mend or judge. */
export function yourItems({ needs_you, blocked, review }: Desk, by: Facet | null = null): Item[] {
  const items = [
    ...group('Asking now', ofState(needs_you, 'waiting'), by),
    ...group('Needs a look', ofState(needs_you, 'unknown'), by),
    ...group('Cannot start', ofState(blocked, 'blocked'), by),
    ...group('Awaiting review', review, by),
  ];
  return orEmpty(items, NOTHING_TO_REVIEW);
}

/** How many cards `yourItems` has. */
export function yourCount({ needs_you, blocked, review }: Desk): number {
  return needs_you.length + ofState(blocked, 'blocked').length + review.length;
}

/** The rail: pinned roles, what is launched next, what rests by the day of its return, and hosts that are not fresh. */
export function railItems(desk: Desk): Item[] {
  const { pinned, scheduled, resting, returning } = desk;
  const items = [...section('Pinned', pinned), ...section('Next launches', scheduled)];
  if (resting.length > 0) {
    items.push({
      kind: 'heading',
      key: 'Resting',
      text: 'Resting',
      count: resting.length,
      level: 'section',
      state: 'resting',
    });
    for (const { heading, cards } of returning)
      items.push(
        { kind: 'heading', key: `Resting ${heading}`, text: heading, count: cards.length, level: 'day' },
        ...lines('Resting', cards),
      );
  }
  return [...orEmpty(items, NOTHING_AT_REST), ...hostItems(desk)];
}

/** Nothing while every host is fresh. */
function hostItems({ not_fresh }: Desk): Item[] {
  if (not_fresh.length === 0) return [];
  return [
    { kind: 'hosts', key: 'Hosts' },
    ...not_fresh.map((line): Item => ({ kind: 'host', key: `Host ${line.host}`, line })),
  ];
}

function group(text: string, of: readonly Card[], by: Facet | null): Item[] {
  return of.length === 0
    ? []
    : [{ kind: 'heading', key: text, text, count: of.length, level: 'group' }, ...grouped(text, of, by)];
}

/** The cards below a heading for each project, agent or host, by its name; their order in it stays. */
function grouped(within: string, of: readonly Card[], by: Facet | null): Item[] {
  if (by === null) return cards(of);
  const groups = new Map<string, Card[]>();
  for (const card of of) {
    const name = facetOf(card, by);
    const known = groups.get(name);
    if (known === undefined) groups.set(name, [card]);
    else known.push(card);
  }
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([text, of]) => [
      { kind: 'heading', key: `${within} ${by} ${text}`, text, count: of.length, level: 'day' } as const,
      ...cards(of),
    ]);
}

function section(text: string, of: readonly Card[]): Item[] {
  return of.length === 0
    ? []
    : [{ kind: 'heading', key: text, text, count: of.length, level: 'section' }, ...lines(text, of)];
}

function cards(of: readonly Card[]): Item[] {
  return of.map((card) => ({ kind: 'card', key: card.key, card }));
}

/** A pinned role can be resting or scheduled too, so that the key of a line names its section. */
function lines(within: string, of: readonly Card[]): Item[] {
  return of.map((card) => ({ kind: 'line', key: `${within} ${card.key}`, card }));
}

function orEmpty(items: Item[], text: string): Item[] {
  return items.length === 0 ? [{ kind: 'empty', key: 'empty', text }] : items;
}
