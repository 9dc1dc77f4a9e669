import { type Day, dayIn } from './days.ts';
import { FACETS, type Facet } from './facets.ts';

/** The views of the board, in the order of the top bar and of the keys `1`, `2`, … */
export type View = 'desk' | 'day' | 'week' | 'chronicle' | 'shelf' | 'settings';
export const VIEWS: readonly View[] = ['desk', 'day', 'week', 'chronicle', 'shelf', 'settings'];
export const VIEW_NAMES: Readonly<Record<View, string>> = {
  desk: 'Desk',
  day: 'Day',
  week: 'Week',
  chronicle: 'Chronicle',
  shelf: 'Shelf',
  settings: 'Settings',
};

/** The single key that leads to each of them. */
export const VIEW_KEYS: Readonly<Record<View, string>> = {
  desk: '1',
  day: '2',
  week: '3',
  chronicle: '4',
  shelf: '5',
  settings: ',',
};

/** Sheets that open over a view without a fiber. */
type SheetName = 'stash' | 'capture' | 'find' | 'keys' | 'hosts' | 'meeting';
const SHEETS: readonly SheetName[] = ['stash', 'capture', 'find', 'keys', 'hosts', 'meeting'];

/** What the page shows, as its address says: the daemon serves one page alone, so all of it is in the query. */
export type Where = {
  view: View;
  /** The id of the fiber whose sheet is open. */
  fiber: string | null;
  /** The host whose feed has it; null for the one that answers. */
  origin: string | null;
  sheet: SheetName | null;
  /** The day that a view of time shows; null for today. */
  day: Day | null;
  /** The part of the settings that is open; `reply` opens the sheet of a fiber at its reply box. */
  part: string | null;
  /** What the finder looks for; null without the finder. */
  q: string | null;
  /** Words that the cards of the Desk have; null for all cards. */
  filter: string | null;
  /** What the cards of the Desk are grouped by. */
  group: Facet | null;
};

/** What a query names; anything in it that cannot be used is left out. */
export function parseWhere(search: string): Where {
  const query = new URLSearchParams(search);
  const view = query.get('view');
  const fiber = query.get('fiber') || null;
  const sheet = SHEETS.find((one) => one === query.get('sheet')) ?? null;
  return {
    view: VIEWS.find((one) => one === view) ?? 'desk',
    fiber,
    origin: (fiber !== null && query.get('origin')) || null,
    sheet,
    day: dayIn(query.get('d') ?? undefined),
    part: query.get('part') || null,
    q: (sheet === 'find' && query.get('q')) || null,
    filter: query.get('filter') || null,
    group: FACETS.find((one) => one === query.get('group')) ?? null,
  };
}

/** The shortest query of a place: empty for the Desk. */
export function printWhere({ view, fiber, origin, sheet, day, part, q, filter, group }: Where): string {
  const query = new URLSearchParams();
  if (view !== 'desk') query.set('view', view);
  if (day !== null) query.set('d', day);
  if (part !== null) query.set('part', part);
  if (fiber !== null) query.set('fiber', fiber);
  if (fiber !== null && origin !== null) query.set('origin', origin);
  if (sheet !== null) query.set('sheet', sheet);
  if (sheet === 'find' && q !== null) query.set('q', q);
  if (filter !== null) query.set('filter', filter);
  if (group !== null) query.set('group', group);
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
