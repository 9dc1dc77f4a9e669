import type { FeedCopy } from '../contract/threads/fleet.ts';
import type { CopyOfRemote } from './fleet-feeds.ts';

/** After so many bytes of copies, other work of the thread has its turn. */
const BYTES_OF_TURN = 1024 * 1024;

/**
 * Copies for a reader that has them as of a change, or none of them for null: each as it is when its turn comes, and the
 * bytes of those that the reader lacks.
 */
export async function toldCopies(
  copies: readonly CopyOfRemote[],
  had: number | null,
  nextTurn: () => Promise<unknown>,
): Promise<{ reads: FeedCopy[]; parts: Uint8Array<ArrayBuffer>[] }> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const reads: FeedCopy[] = [];
  let bytes = 0;
  for (const { copy, ...read } of copies) {
    if (copy === null) reads.push({ ...read, copy: 'none' });
    else if (had !== null && copy.last_change <= had) reads.push({ ...read, copy: 'same' });
    else {
      const part = copy.whole();
      parts.push(part);
      reads.push({ ...read, copy: 'told' });
      bytes += part.length;
      if (bytes < BYTES_OF_TURN) continue;
      bytes = 0;
      await nextTurn();
    }
  }
  return { reads, parts };
}
