import type { SentFilesRow } from '../contract/http/sent-files.ts';
import type { SessionLine } from '../contract/ledger.ts';
import type { SentLine } from './events-segment.ts';
import { createFiberFinder } from './session-fibers.ts';

/** The most that a trail of one fiber shows (LIM-12). */
export const TRAIL_LENGTH = 50;

/** Pushes with the fiber that each was for, by the sessions ledger, whose lines are oldest first. */
export function joinSentFiles(sent: readonly SentLine[], sessions: readonly SessionLine[]): SentFilesRow[] {
  const fiberOf = createFiberFinder(sessions);
  return sent.map((push) => {
    const line = fiberOf(push);
    return { ...push, fiber: line?.fiber ?? null, uid: line?.uid ?? null };
  });
}

/** The newest pushes of one fiber, newest last (TMP-5). */
export function trailOf(rows: readonly SentFilesRow[], uid: string): SentFilesRow[] {
  return rows.filter((row) => row.uid === uid).slice(-TRAIL_LENGTH);
}
