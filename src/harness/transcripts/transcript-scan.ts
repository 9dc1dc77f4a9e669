import type { AppendOnlyFile, LineSink, ReadPosition } from '../../platform/append-only-file.ts';
import { asTable } from '../table.ts';

/** A longer line is skipped: no answer of a model is that long, but a pasted file may be. */
const MOST_LINE_BYTES = 32 * 1024 * 1024;
const NEWLINE = 0x0a;

export type ScanOptions = {
  /** Cheap test of a line's bytes; lines that fail it are not parsed. */
  wanted?: (line: Buffer) => boolean;
  /** Bytes read at a time. */
  slice?: number;
};

/** A record of a JSON Lines file and the byte at which its line begins. */
export type FoundRecord = { record: Record<string, unknown>; at: number };

/**
 * Yields the complete records of a JSON Lines file after a position, in order, and advances the position. Skips lines
 * that are not JSON objects. Holds at most one slice, or one line, in memory.
 */
export function* scanRecords(
  file: AppendOnlyFile,
  position: ReadPosition,
  { wanted = () => true, ...limits }: ScanOptions = {},
): Generator<FoundRecord> {
  let found: FoundRecord[] = [];
  const lines: LineSink = {
    take(bytes, start, at) {
      const end = bytes.indexOf(NEWLINE, start);
      const line = bytes.subarray(start, end);
      const record = wanted(line) ? parsed(line) : null;
      if (record !== null) found.push({ record, at });
      return end;
    },
    skip() {},
  };
  for (const _ of file.readLines(position, { longest: MOST_LINE_BYTES, ...limits }, lines)) {
    yield* found;
    found = [];
  }
  yield* found;
}

function parsed(line: Buffer): Record<string, unknown> | null {
  if (line[0] !== 0x7b) return null;
  try {
    return asTable(JSON.parse(line.toString('utf8')));
  } catch {
    return null;
  }
}
