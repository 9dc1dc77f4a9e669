import { CodedError } from '../base/errors.ts';
import { COPY_END, type FeedBlocks } from '../contract/threads/fleet.ts';
import { Pieces } from '../http/pieces.ts';

/** The copy of the feed of a remote in the blocks that it came in, which later versions of it share. */
export type BlockCopy = { blocks: ReadonlyMap<number, Uint8Array>; pieces: Pieces };

const END = Buffer.from(COPY_END);

/**
 * The next version of a copy: `before` with the blocks that changed, whose bytes `take` gives in order. They are copied,
 * so that one of them alone does not keep all that came with it.
 */
export function nextCopy(
  before: BlockCopy | undefined,
  told: FeedBlocks['copy'],
  take: (length: number) => Uint8Array,
): BlockCopy | undefined {
  if (told === null) return undefined;
  if (told === 'same') return before ?? missing();
  const { head, ids, lengths } = told;
  const blocks = new Map(
    ids.map((id, at) => {
      const length = lengths[at] ?? 0;
      return [id, length === 0 ? (before?.blocks.get(id) ?? missing()) : new Uint8Array(take(length))];
    }),
  );
  // Each block begins with the comma after the one before.
  const rows = [...blocks.values()].map((block, at) => (at === 0 ? block.subarray(1) : block));
  return { blocks, pieces: new Pieces([Buffer.from(head), ...rows, END]) };
}

function missing(): never {
  throw new CodedError('internal', 'the fleet thread left out bytes of a copy');
}
