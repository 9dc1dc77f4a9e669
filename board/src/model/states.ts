import { STOPS_A_WORKER } from '../../../src/contract/worker-stops.ts';
import type { FiberRow } from './wire.ts';

/** What the glyph of a card tells. */
export type CardState =
  | 'draft'
  | 'parked'
  | 'due'
  | 'launching'
  | 'working'
  | 'waiting'
  | 'idle'
  | 'unknown'
  | 'blocked'
  | 'held'
  | 'delayed'
  | 'scheduled'
  | 'review'
  | 'accepted'
  | 'set_aside'
  | 'resting'
  | 'elsewhere';

/** The name of each state, for those who cannot see its glyph. */
export const STATE_NAMES: Readonly<Record<CardState, string>> = {
  draft: 'Draft',
  parked: 'At rest',
  due: 'Starts soon',
  launching: 'Launching',
  working: 'Working',
  waiting: 'Waiting for you',
  idle: 'Idle',
  unknown: 'Running, state unknown',
  blocked: 'Blocked',
  held: 'Held back',
  delayed: 'Delayed',
  scheduled: 'Scheduled',
  review: 'Awaiting review',
  accepted: 'Accepted',
  set_aside: 'Set aside',
  resting: 'Resting',
  elsewhere: 'On another host',
};

/** The refusal for which the worker of a fiber waits for a person. */
export function stopOf({ blocked }: Pick<FiberRow, 'blocked'>): FiberRow['blocked'] {
  return STOPS_A_WORKER.has(blocked?.reason ?? '') ? blocked : undefined;
}

/** The state of a fiber as its host tells it, whatever its due day. The first match wins. */
export function stateOf(row: FiberRow): CardState {
  const { svc } = row;
  if (row.error !== undefined) return 'blocked';
  if (row.status === 'closed')
    return row.tempered === undefined ? 'review' : row.tempered ? 'accepted' : 'set_aside';
  if (row.runtime !== undefined) return stopOf(row) === undefined ? liveState(row.runtime) : 'waiting';
  if (row.status === 'open') return svc?.kind === 'pinned' ? 'parked' : 'draft';
  // Whatever its status says, no worker comes before it has a service block.
  if (svc === undefined) return 'draft';
  if (svc.host !== undefined && svc.host !== row.origin) return 'elsewhere';
  if (row.blocked !== undefined) return 'blocked';
  if (row.held !== undefined) return 'held';
  const isTimed = row.gate === undefined || (row.gate === 'due' && row.next_due_at !== undefined);
  if (svc.kind === 'standing' && isTimed) return 'scheduled';
  return row.gate === undefined ? 'due' : 'delayed';
}

function liveState({ state, phase }: NonNullable<FiberRow['runtime']>): CardState {
  if (state === 'claimed' || state === 'starting') return 'launching';
  if (phase === 'waiting' || phase === 'attention') return 'waiting';
  return state === 'unknown' || phase === 'unknown' ? 'unknown' : phase;
}
