import type { LentBytes } from '../base/lent-bytes.ts';
import type { FeedCopy } from '../contract/threads/fleet.ts';
import type { CopyOfRemote } from './fleet-feeds.ts';

/** Lends the copies to a reader that has them as of a change, or none of them for null; it is told those that it lacks. */
export function toldCopies(
  copies: readonly CopyOfRemote[],
  had: number | null,
): { reads: FeedCopy[]; parts: LentBytes[] } {
  const parts: LentBytes[] = [];
  const reads = copies.map(({ copy, ...read }): FeedCopy => {
    if (copy === null) return { ...read, copy: 'none' };
    const { around, rows } = copy.lend();
    if (had !== null && copy.last_change <= had) return { ...read, copy: 'same' };
    parts.push(rows);
    return { ...read, copy: 'told', around };
  });
  return { reads, parts };
}
