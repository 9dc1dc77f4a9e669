import { useSyncExternalStore } from 'react';
import { onLedger } from '../lib/board.ts';
import {
  HOUR_MS,
  joinReads,
  MINUTE_MS,
  REVISED_MS,
  type Recorded,
  type Trace,
  tracesOf,
} from '../model/activity.ts';
import { readActivity } from './reads.ts';

/** How far the Desk looks back. */
export const RECENT_MS = 4 * HOUR_MS;
/** Between two reads, however fast the ledger grows. */
const APART_MS = 4_000;
/** While nothing says that the ledger has grown. */
const EVERY_MS = MINUTE_MS;

/** The activity of the last hours: of each session, and of all. */
export type Recent = { known: Recorded; sessions: ReadonlyMap<string, Trace>; all: Trace };

const watching = new Set<() => void>();
let recent: Recent | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let read_at = 0;
let reading = false;
let wanted = false;
let unhear: () => void = () => undefined;

/** One read for everything on the Desk: the whole stretch at first, later what can have changed since. */
async function read(): Promise<void> {
  // A hidden page reads once it is looked at again.
  if (document.hidden || reading) return;
  reading = true;
  wanted = false;
  read_at = Date.now();
  const back_to = read_at - RECENT_MS;
  const from = Math.max(back_to, (recent?.known.to ?? back_to) - REVISED_MS);
  const answer = await readActivity({ from, to: read_at });
  reading = false;
  if (answer !== null) {
    const known = joinReads(recent?.known ?? null, answer, back_to);
    recent = { known, ...tracesOf(known.buckets) };
    for (const run of watching) run();
  }
  if (watching.size === 0) return;
  if (wanted) want();
  else plan(EVERY_MS);
}

function plan(ms: number): void {
  clearTimeout(timer);
  timer = setTimeout(() => void read(), ms);
}

function want(): void {
  wanted = true;
  if (!reading) plan(Math.max(0, read_at + APART_MS - Date.now()));
}

function onSeen(): void {
  if (!document.hidden) want();
}

function watch(run: () => void): () => void {
  if (watching.size === 0) {
    const stop = onLedger((ledger) => {
      if (ledger === 'events') want();
    });
    document.addEventListener('visibilitychange', onSeen);
    unhear = () => {
      stop();
      document.removeEventListener('visibilitychange', onSeen);
    };
    want();
  }
  watching.add(run);
  return () => {
    watching.delete(run);
    if (watching.size > 0) return;
    clearTimeout(timer);
    unhear();
  };
}

/** The activity of the last hours, kept up to date while somebody looks; null before it was read. */
export function useRecent(): Recent | null {
  return useSyncExternalStore(watch, () => recent);
}
