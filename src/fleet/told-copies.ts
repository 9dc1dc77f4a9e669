import type { FeedBlocks } from '../contract/threads/fleet.ts';
import type { CopyOfRemote } from './fleet-feeds.ts';
import { encodeBlocks, lengthOf, type RowBlock } from './row-blocks.ts';

/**
 * Copies for a reader that has their blocks as of a change, or none for null: how each is made of blocks, and the bytes of
 * those that the reader lacks, one after the other.
 */
export function toldCopies(
  copies: readonly CopyOfRemote[],
  had: number | null,
): { reads: FeedBlocks[]; bytes: Buffer } {
  const lacking: RowBlock[] = [];
  const reads = copies.map(({ copy, ...read }): FeedBlocks => {
    if (copy === null) return { ...read, copy };
    if (had !== null && copy.last_change <= had) return { ...read, copy: 'same' };
    const isLacking = ({ change }: RowBlock) => had === null || change > had;
    const { head, blocks } = copy;
    lacking.push(...blocks.filter(isLacking));
    const lengths = blocks.map((block) => (isLacking(block) ? lengthOf(block) : 0));
    return { ...read, copy: { head, ids: blocks.map(({ id }) => id), lengths } };
  });
  return { reads, bytes: encodeBlocks(lacking) };
}
