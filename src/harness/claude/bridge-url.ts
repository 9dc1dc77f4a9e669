import { closeSync } from 'node:fs';
import { systemCode } from '../../base/errors.ts';
import { bridgeUrl } from '../../contract/http/transcripts.ts';
import { type OpenFile, openRegularFileSync, readAtSync } from '../../platform/regular-file.ts';
import { asTable } from '../table.ts';

/** Read from the end of a transcript to its beginning, this much at a time. */
const CHUNK_BYTES = 1024 * 1024;
/** A record about the bridge is short; a line that is longer is somebody's text. */
const MOST_LINE_BYTES = 16 * 1024;
/** In every record about the bridge, and in little else. */
const MARKS = [Buffer.from('"bridge_status"'), Buffer.from('"bridge-session"')];

/**
 * The last bridge address that a transcript of Claude Code records in its first `to` bytes, for a pool thread; null
 * where there is none, or no such file. Of the bytes before `seen`, only a record that was not whole yet is looked
 * at. However long the transcript, it is read in constant memory.
 */
export function findBridgeUrl(path: string, seen: number, to: number): string | null {
  const from = Math.max(0, seen - MOST_LINE_BYTES);
  let file: OpenFile;
  try {
    file = openRegularFileSync(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
  try {
    // A record may lie across two chunks, so each is read with what a record may reach beyond it.
    for (let end = Math.min(to, Number(file.stats.size)); end > from; ) {
      const start = Math.max(from, end - CHUNK_BYTES);
      const begin = Math.max(0, start - MOST_LINE_BYTES);
      const bytes = readRange(file.fd, begin, Math.min(to, end + MOST_LINE_BYTES));
      const url = lastUrl(bytes, start - begin, end - begin);
      if (url !== null) return url;
      end = start;
    }
    return null;
  } finally {
    closeSync(file.fd);
  }
}

/** The address of the last record whose mark lies in `[from, to)` of these bytes. */
function lastUrl(bytes: Buffer, from: number, to: number): string | null {
  for (let before = to; ; ) {
    const at = lastMark(bytes, before);
    if (at < from) return null;
    // A line is looked at once, however often it has the mark.
    before = bytes.lastIndexOf(0x0a, at) + 1;
    const url = urlOfLine(lineFrom(bytes, before));
    if (url !== null) return url;
  }
}

function lastMark(bytes: Buffer, before: number): number {
  if (before <= 0) return -1;
  return Math.max(...MARKS.map((mark) => bytes.lastIndexOf(mark, before - 1)));
}

/** The line that begins there; empty for one that is too long, or that is not written to its end. */
function lineFrom(bytes: Buffer, start: number): string {
  const end = bytes.subarray(0, start + MOST_LINE_BYTES + 1).indexOf(0x0a, start);
  return end === -1 ? '' : bytes.toString('utf8', start, end);
}

function urlOfLine(line: string): string | null {
  let record: Record<string, unknown>;
  try {
    record = asTable(JSON.parse(line));
  } catch {
    return null;
  }
  if (record.type === 'system' && record.subtype === 'bridge_status') return bridgeUrl(record.url);
  if (record.type !== 'bridge-session' || typeof record.bridgeSessionId !== 'string') return null;
  const id = record.bridgeSessionId.replace(/^cse_/, 'session_');
  return /^session_[A-Za-z0-9_-]+$/.test(id) ? bridgeUrl(`https://claude.ai/code/${id}`) : null;
}

function readRange(fd: number, from: number, to: number): Buffer {
  return readAtSync(fd, Buffer.allocUnsafe(Math.max(0, to - from)), from);
}
