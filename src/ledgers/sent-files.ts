import type { SentFilesRow } from '../contract/http/sent-files.ts';
import type { SessionLine } from '../contract/ledger.ts';
import type { SentLine } from './events-segment.ts';
import { createFiberFinder } from './session-fibers.ts';

/** Maximum number of sent files in the trail of one fiber (LIM-12). */
export const TRAIL_LENGTH = 50;

/** Sent files with the fiber of each, found in the sessions ledger, whose lines are oldest first. */
export function joinSentFiles(sent: readonly SentLine[], sessions: readonly SessionLine[]): SentFilesRow[] {
  const fiberOf = createFiberFinder(sessions);
  return sent.map((push) => {
    const line = fiberOf(push);
    return { ...push, fiber: line?.fiber ?? null, uid: line?.uid ?? null };
  });
}

/** The newest sent files of one fiber, newest last (TMP-5). */
export function trailOf(rows: readonly SentFilesRow[], uid: string): SentFilesRow[] {
  return rows.filter((row) => row.uid === uid).slice(-TRAIL_LENGTH);
}
