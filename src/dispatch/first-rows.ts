import type { BlockedView, FiberDocument, RunView } from '../contract/fiber.ts';
import { STOPS_A_WORKER } from '../contract/worker-stops.ts';

/** Rows of each column that a board reads before it reads all: several screens of it. */
export const MOST_IN_COLUMN = 100;
/** Rows of a host that a board reads as a whole at once. */
export const MOST_WHOLE_ROWS = 500;

type Column = 'rail' | 'drafts' | 'in_flight' | 'review';
type Standing = {
  document: Pick<
    FiberDocument,
    'status' | 'tempered' | 'closed_at' | 'created_at' | 'due' | 'horizon' | 'svc'
  >;
  given: {
    runtime?: Pick<RunView, 'state' | 'phase' | 'phase_since' | 'started_at' | 'needs_look'>;
    blocked?: Pick<BlockedView, 'reason' | 'first_attempted_at'>;
    held?: unknown;
    gate?: unknown;
  };
};
/** What stands further up has a lower class, and a later time. */
type Rank = { class: number; at: number };

/**
 * The rows that a board shows first: the upper ones of each of its columns, in the order of `rows`. What was judged is
 * in none of them.
 */
export function firstRows<Row extends Standing>(rows: readonly Row[], now: number): Row[] {
  const columns: Record<Column, { row: Row; rank: Rank }[]> = {
    ...{ rail: [], drafts: [], in_flight: [], review: [] },
  };
  for (const row of rows) {
    const column = columnOf(row, now);
    if (column !== null) columns[column].push({ row, rank: rankOf(row, column, now) });
  }
  const upper = Object.values(columns).flatMap((of) => of.sort(byRank).slice(0, MOST_IN_COLUMN));
  const first = new Set(upper.map(({ row }) => row));
  return rows.filter((row) => first.has(row));
}

function columnOf({ document, given }: Standing, now: number): Column | null {
  if (document.status === 'closed') return document.tempered === undefined ? 'review' : null;
  if (given.runtime !== undefined) return 'in_flight';
  const rests = document.horizon === 'stashed' && !isOverdue(document, now);
  const kind = document.svc?.kind ?? 'oneshot';
  if (rests || kind !== 'oneshot') return 'rail';
  return document.status === 'open' || document.svc === undefined ? 'drafts' : 'in_flight';
}

/** The classes of In flight are its groups, from top to bottom. */
function rankOf({ document, given }: Standing, column: Column, now: number): Rank {
  const { runtime, blocked, held, gate } = given;
  if (column === 'review') return { class: 0, at: timeOf(document.closed_at) };
  if (runtime !== undefined) return rankOfWorker(runtime, blocked);
  const at = isOverdue(document, now)
    ? Number.MAX_SAFE_INTEGER - timeOf(document.due)
    : timeOf(document.created_at);
  if (column !== 'in_flight') return { class: 0, at };
  return {
    class: blocked !== undefined || (gate !== undefined && held === undefined) ? 5 : held ? 6 : 4,
    at,
  };
}

function rankOfWorker(
  { state, phase, phase_since, started_at, needs_look }: NonNullable<Standing['given']['runtime']>,
  blocked: Standing['given']['blocked'],
): Rank {
  const starts = state === 'claimed' || state === 'starting';
  // Who has waited longest for a person comes first.
  if (blocked !== undefined && STOPS_A_WORKER.has(blocked.reason))
    return { class: 0, at: -blocked.first_attempted_at };
  if (!starts && (phase === 'waiting' || phase === 'attention'))
    return { class: 0, at: -(phase_since ?? started_at) };
  if (starts) return { class: 4, at: started_at };
  if (needs_look) return { class: 1, at: started_at };
  return { class: state === 'unknown' || phase === 'unknown' ? 3 : 2, at: started_at };
}

function isOverdue({ due }: Pick<FiberDocument, 'due'>, now: number): boolean {
  const at = timeOf(due);
  return at > 0 && at <= now;
}

function byRank({ rank: a }: { rank: Rank }, { rank: b }: { rank: Rank }): number {
  return a.class - b.class || b.at - a.at;
}

function timeOf(text: string | undefined): number {
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? 0 : time;
}
