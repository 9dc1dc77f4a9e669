import type { Row } from './activity-columns.ts';
import type { Block } from './encoded-buckets.ts';
import type { EventsSegment } from './events-segment.ts';

/** Blocks of one file. */
export type FileBlocks = { segment: EventsSegment; blocks: readonly Block[] };

/**
 * A bucket may begin in the older file and continue in the newer one. Answers the rows of each block that shares a minute
 * with the other file: such minutes are merged into the blocks of the older file and left out of the newer one.
 */
export function joinBlocks(older: FileBlocks, newer: FileBlocks): ReadonlyMap<Block, readonly Row[]> {
  const joint = new Map<Block, readonly Row[]>();
  const [rotated, live] = [older.segment, newer.segment];
  const [last, first] = [lastOf(older.blocks), firstOf(newer.blocks)];
  const ofNewer = newer.blocks.filter((block) => block.first <= last);
  const more = new Map<string, number>();
  for (const block of ofNewer)
    for (const row of live.activity.rows(block))
      if (row.minute <= last) more.set(keyOf(live, row), row.count);
  const merged = new Set<string>();
  for (const block of older.blocks) {
    if (block.last < first) continue;
    const rows = rotated.activity.rows(block).map((row) => {
      const key = row.minute < first ? null : keyOf(rotated, row);
      const count = key === null ? undefined : more.get(key);
      if (key === null || count === undefined) return row;
      merged.add(key);
      return { ...row, count: row.count + count };
    });
    joint.set(block, rows);
  }
  for (const block of ofNewer) {
    const rows = live.activity
      .rows(block)
      .filter((row) => row.minute > last || !merged.has(keyOf(live, row)));
    joint.set(block, rows);
  }
  return joint;
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
