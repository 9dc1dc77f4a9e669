import type { SentFilesRow } from '../contract/http/sent-files.ts';
import type { SentLine } from './events-segment.ts';
import type { FindFiber } from './session-fibers.ts';

/** Maximum number of sent files in the trail of one fiber (LIM-12). */
const TRAIL_LENGTH = 50;

/** Sent files with the fiber of each. */
export function joinSentFiles(sent: readonly SentLine[], fiberOf: FindFiber): SentFilesRow[] {
  return sent.map((push) => {
    const line = fiberOf(push);
    return { ...push, fiber: line?.fiber ?? null, uid: line?.uid ?? null };
  });
}

/** The newest sent files of one fiber, newest last (TMP-5). */
export function trailOf(rows: readonly SentFilesRow[], uid: string): SentFilesRow[] {
  return rows.filter((row) => row.uid === uid).slice(-TRAIL_LENGTH);
}
