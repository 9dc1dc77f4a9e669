import { useSyncExternalStore } from 'react';
import { onLedger } from '../lib/board.ts';
import { HOUR_MS, joinReads, REVISED_MS, type Recorded, type Trace, tracesOf } from '../model/activity.ts';
import { Pace } from './pace.ts';
import { readActivity } from './reads.ts';

/** How far the Desk looks back. */
const RECENT_MS = 4 * HOUR_MS;
/** The activity of the last hours: of each session, and of all. */
export type Recent = { known: Recorded; sessions: ReadonlyMap<string, Trace>; all: Trace };

const watching = new Set<() => void>();
let recent: Recent | null = null;
let unhear: () => void = () => undefined;
const pace = new Pace(read);

/** One read for everything on the Desk: the whole stretch at first, later what can have changed since. */
async function read(): Promise<void> {
  const to = Date.now();
  const back_to = to - RECENT_MS;
  const from = Math.max(back_to, (recent?.known.to ?? back_to) - REVISED_MS);
  const answer = await readActivity({ from, to });
  if (answer === null) return;
  const known = joinReads(recent?.known ?? null, answer, back_to);
  recent = { known, ...tracesOf(known.buckets) };
  for (const run of watching) run();
}

function watch(run: () => void): () => void {
  if (watching.size === 0) {
    unhear = onLedger((ledger) => {
      if (ledger === 'events') pace.want();
    });
    pace.start();
  }
  watching.add(run);
  return () => {
    watching.delete(run);
    if (watching.size > 0) return;
    pace.stop();
    unhear();
  };
}

/** The activity of the last hours, kept up to date while somebody looks; null before it was read. */
export function useRecent(): Recent | null {
  return useSyncExternalStore(watch, () => recent);
}
