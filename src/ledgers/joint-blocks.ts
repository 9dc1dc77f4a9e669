import type { Row } from './activity-columns.ts';
import { type Block, nextPieceId } from './encoded-buckets.ts';
import type { EventsSegment } from './events-segment.ts';

/** The merged rows of a block that shares a minute with the other file, and their cached bytes. */
export type JointBlock = { readonly rows: readonly Row[]; readonly id: number; bytes: Uint8Array | null };

/**
 * A bucket may begin in one file and continue in the other. Minutes in both files are merged into the blocks of the
 * older file and left out of the newer one. All other blocks are unchanged.
 */
export class JointBlocks {
  #shared: readonly Block[] = [];
  #joint = new Map<Block, JointBlock>();

  /** The blocks that share a minute with the other file, merged; cached until one of them changes. */
  of(rotated: EventsSegment | null, live: EventsSegment | null): ReadonlyMap<Block, JointBlock> {
    if (rotated === null || live === null) return new Map();
    const older = rotated.encoded.blocks();
    const newer = live.encoded.blocks();
    const [last, first] = [lastOf(older), firstOf(newer)];
    const ofOlder = older.filter((block) => block.last >= first);
    const ofNewer = newer.filter((block) => block.first <= last);
    const shared = [...ofOlder, ...ofNewer];
    if (shared.length !== this.#shared.length || shared.some((block, nth) => block !== this.#shared[nth])) {
      this.#shared = shared;
      this.#joint = join({ rotated, live, ofOlder, ofNewer, first, last });
    }
    return this.#joint;
  }
}

type Shared = {
  rotated: EventsSegment;
  live: EventsSegment;
  ofOlder: readonly Block[];
  ofNewer: readonly Block[];
  /** The first minute of the newer file, and the last one of the older. */
  first: number;
  last: number;
};

function join({ rotated, live, ofOlder, ofNewer, first, last }: Shared): Map<Block, JointBlock> {
  const more = new Map<string, number>();
  for (const block of ofNewer)
    for (const row of rowsOf(live, block)) if (row.minute <= last) more.set(keyOf(live, row), row.count);
  const merged = new Set<string>();
  const joint = new Map<Block, JointBlock>();
  const add = (block: Block, rows: readonly Row[]) => {
    joint.set(block, { rows, id: nextPieceId(), bytes: null });
  };
  for (const block of ofOlder) {
    const rows = rowsOf(rotated, block).map((row) => {
      const key = row.minute < first ? null : keyOf(rotated, row);
      const count = key === null ? undefined : more.get(key);
      if (key === null || count === undefined) return row;
      merged.add(key);
      return { ...row, count: row.count + count };
    });
    add(block, rows);
  }
  for (const block of ofNewer) {
    const rows = rowsOf(live, block).filter((row) => row.minute > last || !merged.has(keyOf(live, row)));
    add(block, rows);
  }
  return joint;
}

/** The rows of one block of a segment. */
export function rowsOf(segment: EventsSegment, { from, to }: Block): Row[] {
  return segment.activity.rows(from, to);
}

function keyOf({ strings }: EventsSegment, { minute, session, cwd, kind }: Row): string {
  return `${minute} ${kind} ${strings.text(session)}\n${strings.text(cwd)}`;
}

function firstOf(blocks: readonly Block[]): number {
  return blocks.reduce((least, { first }) => Math.min(least, first), Number.POSITIVE_INFINITY);
}

function lastOf(blocks: readonly Block[]): number {
  return blocks.reduce((most, { last }) => Math.max(most, last), Number.NEGATIVE_INFINITY);
}
