import type { Card } from './card.ts';
import type { Desk } from './desk.ts';
import { FACETS } from './facets.ts';

/**
 * Whether a card has every word of a filter in its title, id, project, agent or host; `agent:one` looks at its agent
 * alone, as `project:` and `host:` do. Null for a filter without words.
 */
export function filterOf(text: string): ((card: Card) => boolean) | null {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return null;
  const tests = words.map((word) => {
    const facet = FACETS.find((one) => word.startsWith(`${one}:`));
    if (facet !== undefined) {
      const named = word.slice(facet.length + 1);
      return (card: Card) => (card[facet] ?? '').toLowerCase().includes(named);
    }
    return ({ title, id, project, agent, host }: Card) =>
      [title, id, project, agent, host].some((one) => one?.toLowerCase().includes(word));
  });
  return (card) => tests.every((test) => test(card));
}

/** The Desk with the cards alone that a filter lets through; the same Desk without one. */
export function narrowed(desk: Desk, filter: string): Desk {
  const passes = filterOf(filter);
  if (passes === null) return desk;
  const of = (cards: readonly Card[]) => cards.filter(passes);
  return {
    ...desk,
    drafts: of(desk.drafts),
    needs_you: of(desk.needs_you),
    working: of(desk.working),
    blocked: of(desk.blocked),
    review: of(desk.review),
    scheduled: of(desk.scheduled),
    resting: of(desk.resting),
    pinned: of(desk.pinned),
    returning: desk.returning
      .map(({ heading, cards }) => ({ heading, cards: of(cards) }))
      .filter(({ cards }) => cards.length > 0),
  };
}
