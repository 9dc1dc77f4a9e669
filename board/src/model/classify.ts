import { type Day, dayIn } from './days.ts';
import type { CardState } from './states.ts';
import type { FiberRow } from './wire.ts';

/** Where a fiber stands on the Desk; null for what is not on it. */
export type Place =
  | 'drafts'
  | 'needs_you'
  | 'working'
  | 'blocked'
  | 'review'
  | 'scheduled'
  | 'resting'
  | null;

const PLACE_OF_STATE: Readonly<Record<CardState, Place>> = {
  draft: 'drafts',
  parked: null,
  due: 'working',
  launching: 'working',
  working: 'working',
  waiting: 'needs_you',
  idle: 'working',
  unknown: 'working',
  blocked: 'blocked',
  held: 'blocked',
  delayed: 'blocked',
  elsewhere: 'blocked',
  scheduled: 'scheduled',
  review: 'review',
  accepted: null,
  set_aside: null,
  resting: 'resting',
};

/** States of fibers on which nobody works and that may therefore rest. */
const MAY_REST: ReadonlySet<CardState> = new Set(['draft', 'due', 'blocked', 'held', 'delayed', 'elsewhere']);

/** The day on which a fiber that was laid aside comes back; undefined if it is not resting. */
export function returnDay(row: FiberRow, state: CardState, today: Day): Day | null | undefined {
  if (row.horizon !== 'stashed' || row.error !== undefined || !MAY_REST.has(state)) return undefined;
  const due = dayIn(row.due);
  return due !== null && due <= today ? undefined : due;
}

/** The column of a fiber in this state; that of a pinned role at rest is its rail alone. */
export function placeOf(row: FiberRow, state: CardState, today: Day): Place {
  if (row.tags.includes('cycle')) return null;
  if (state === 'unknown' && row.runtime?.needs_look === true) return 'needs_you';
  return returnDay(row, state, today) === undefined ? PLACE_OF_STATE[state] : 'resting';
}
