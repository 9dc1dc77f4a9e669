import { keyOf } from './feed-copy.ts';
import type { Change } from './gestures.ts';
import type { FiberRow } from './wire.ts';

/** Why a gesture was not done. */
export type Refusal = {
  /** In the words of the daemon, or of the board where nothing was asked. */
  message: string;
  code: string;
  /** It is not known whether it was done. */
  unknown: boolean;
  /** Another project folder fixes it. */
  needs_folder: boolean;
};

/** A gesture on one row, from its request until the feed shows what became of it. Moments are milliseconds since the Unix epoch. */
export type Pending = {
  /** That of the row, by `keyOf`. */
  key: string;
  /** The row of the feed when it began. */
  before: FiberRow;
  /** What becomes of it; null where the daemon alone knows. */
  change: Change | null;
  /** The row as it is shown meanwhile. */
  shown: FiberRow;
} & (
  | { phase: 'sending' }
  /** The daemon has done it; the feed may not have shown it yet. */
  | { phase: 'done'; at: number }
  /** Rolled back; the reason stays on the card. */
  | { phase: 'refused'; refusal: Refusal }
);

/** By `keyOf`: one at a time for each row. */
export type Pendings = ReadonlyMap<string, Pending>;

/** How long what was done is shown before the feed has shown it too. */
export const OWN_ENTRY_MS = 10_000;

/** `row` is that of the feed. */
export function begin(pendings: Pendings, row: FiberRow, change: Change | null, now: number): Pendings {
  const shown = change === null ? row : changed(row, change, now);
  const key = keyOf(row);
  return new Map(pendings).set(key, { key, before: row, change, shown, phase: 'sending' });
}

export function succeed(pendings: Pendings, key: string, now: number): Pendings {
  const pending = pendings.get(key);
  if (pending === undefined) return pendings;
  const { before, change, shown } = pending;
  return new Map(pendings).set(key, { key, before, change, shown, phase: 'done', at: now });
}

/** Puts the card back, with the reason; `row` is that of the feed. */
export function refuse(pendings: Pendings, row: FiberRow, change: Change | null, refusal: Refusal): Pendings {
  const key = keyOf(row);
  return new Map(pendings).set(key, {
    ...{ key, before: row, change, shown: row },
    phase: 'refused',
    refusal,
  });
}

export function dismiss(pendings: Pendings, key: string): Pendings {
  if (!pendings.has(key)) return pendings;
  const left = new Map(pendings);
  left.delete(key);
  return left;
}

/** What is left once the feed shows these rows: the same object if nothing changed. */
export function reconcile(pendings: Pendings, rows: ReadonlyMap<string, FiberRow>, now: number): Pendings {
  let left = pendings;
  for (const pending of pendings.values())
    if (isOver(pending, rows.get(pending.key), now)) left = dismiss(left, pending.key);
  return left;
}

/** Without the refusals that were given because nobody answered: somebody does again. */
export function heard(pendings: Pendings): Pendings {
  let left = pendings;
  for (const one of pendings.values())
    if (one.phase === 'refused' && one.refusal.code === SILENT) left = dismiss(left, one.key);
  return left;
}

/** The code of a refusal without a request, while the daemon is gone or starts. */
export const SILENT = 'silent';

/** When the first of them is over without a word of the feed; null if none ever is. */
export function nextExpiry(pendings: Pendings): number | null {
  const ends = [...pendings.values()].flatMap((one) => (one.phase === 'done' ? [one.at + OWN_ENTRY_MS] : []));
  return ends.length === 0 ? null : Math.min(...ends);
}

function isOver(pending: Pending, row: FiberRow | undefined, now: number): boolean {
  if (pending.phase === 'sending') return false;
  if (row === undefined) return true;
  const { before, change } = pending;
  if (pending.phase === 'refused') {
    if (pending.refusal.unknown && change !== null) return shows(row, change);
    // A reason does not outlive the state that it was given for.
    return row.status !== before.status || row.tempered !== before.tempered;
  }
  if (now >= pending.at + OWN_ENTRY_MS) return true;
  return change === null ? row !== before : shows(row, change);
}

/** The rows with what is under way laid over them: the same object if nothing is. */
export function overlay(
  rows: ReadonlyMap<string, FiberRow>,
  pendings: Pendings,
): ReadonlyMap<string, FiberRow> {
  const over = [...pendings.values()].filter(({ key, phase, before, shown }) => {
    return phase !== 'refused' && shown !== before && rows.has(key);
  });
  if (over.length === 0) return rows;
  const laid = new Map(rows);
  for (const { key, shown } of over) laid.set(key, shown);
  return laid;
}

/** Whether a row is as a change makes it. */
export function shows(row: FiberRow, change: Change): boolean {
  const { status, tempered, due, horizon, worker } = change;
  return (
    (status === undefined || row.status === status) &&
    (tempered === undefined || (row.tempered ?? null) === tempered) &&
    (due === undefined || (row.due ?? null) === due) &&
    (horizon === undefined || (row.horizon ?? null) === horizon) &&
    (worker === undefined || (row.runtime !== undefined) === (worker === 'launching'))
  );
}

/** The row as it is expected to be after a change. `now` is in milliseconds since the Unix epoch. */
export function changed(row: FiberRow, change: Change, now: number): FiberRow {
  const { status = row.status, tempered, due, horizon, worker, closed_at } = change;
  const next: FiberRow = { ...row, status };
  if (status === 'closed' && row.status !== 'closed') next.closed_at = new Date(now).toISOString();
  if (closed_at === null) delete next.closed_at;
  else if (closed_at !== undefined) next.closed_at = closed_at;
  if (tempered === null) delete next.tempered;
  else if (tempered !== undefined) next.tempered = tempered;
  if (due === null) delete next.due;
  else if (due !== undefined) next.due = due;
  if (horizon === null) delete next.horizon;
  else if (horizon !== undefined) next.horizon = horizon;
  if (worker === 'none') delete next.runtime;
  if (worker === 'launching') next.runtime = launching(row, now);
  return next;
}

function launching({ svc }: FiberRow, now: number): NonNullable<FiberRow['runtime']> {
  return {
    mux_session: null,
    surface: svc?.surface ?? 'cli',
    agent: svc?.agent ?? '',
    harness: '',
    session_uuid: null,
    state: 'claimed',
    phase: 'unknown',
    phase_since: null,
    phase_source: null,
    said: null,
    run_id: '',
    started_at: now,
    last_activity_at: null,
  };
}
