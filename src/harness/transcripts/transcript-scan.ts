import type { FileHandle } from 'node:fs/promises';
import { asTable } from '../table.ts';

const CHUNK_BYTES = 512 * 1024;
/** A longer line is skipped: no answer of a model is that long, but a pasted file may be. */
const MOST_LINE_BYTES = 32 * 1024 * 1024;

/**
 * Calls `take` with each complete record of a JSON Lines file from a byte offset on, in order, until it returns `stop`;
 * resolves to the offset after the last record taken. Skips lines that are not JSON objects. Holds at most one line in
 * memory.
 */
export async function scanRecords(
  file: FileHandle,
  from: number,
  take: (record: Record<string, unknown>) => 'stop' | undefined,
  /** Cheap test of a line's bytes; lines that fail it are not parsed. */
  wanted: (line: Buffer) => boolean = () => true,
): Promise<number> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let pending: Buffer[] = [];
  let held = 0;
  let done = from;
  for (let at = from; ; ) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, at);
    if (bytesRead === 0) return done;
    let start = 0;
    for (let end = newline(chunk, 0, bytesRead); end !== -1; end = newline(chunk, start, bytesRead)) {
      const piece = chunk.subarray(start, end);
      if (held + piece.length <= MOST_LINE_BYTES) {
        const line = pending.length === 0 ? piece : Buffer.concat([...pending, piece]);
        if (wanted(line)) {
          const record = parsed(line);
          if (record !== null && take(record) === 'stop') return at + end + 1;
        }
      }
      pending = [];
      held = 0;
      start = end + 1;
      done = at + start;
    }
    if (start < bytesRead) {
      held += bytesRead - start;
      if (held <= MOST_LINE_BYTES) pending.push(Buffer.from(chunk.subarray(start, bytesRead)));
      else pending = [];
    }
    at += bytesRead;
  }
}

function newline(chunk: Buffer, from: number, end: number): number {
  const at = chunk.indexOf(0x0a, from);
  return at === -1 || at >= end ? -1 : at;
}

function parsed(line: Buffer): Record<string, unknown> | null {
  if (line[0] !== 0x7b) return null;
  try {
    return asTable(JSON.parse(line.toString('utf8')));
  } catch {
    return null;
  }
}
