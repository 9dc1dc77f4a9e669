import type { Card } from './card.ts';

/** What the cards of a list can be grouped by, and a word of the filter can name. */
export const FACETS = ['project', 'agent', 'host'] as const;
export type Facet = (typeof FACETS)[number];

const NOTHING: Readonly<Record<Facet, string>> = {
  project: 'No project',
  agent: 'No agent',
  host: 'No host',
};

/** What a card is of, as the heading of its group. */
export function facetOf(card: Card, facet: Facet): string {
  return card[facet] ?? NOTHING[facet];
}
