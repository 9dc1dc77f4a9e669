import { closeSync } from 'node:fs';
import { systemCode } from '../../base/errors.ts';
import { jsonOf } from '../../base/json-text.ts';
import { bridgeUrl } from '../../contract/http/transcripts.ts';
import { type OpenFile, openRegularFileSync, readAtSync } from '../../platform/regular-file.ts';
import { asTable } from '../table.ts';

/** Chunk size; a transcript is read backwards. */
const CHUNK_BYTES = 1024 * 1024;
/** Records about the bridge are short; a longer line is conversation text. */
const MOST_LINE_BYTES = 16 * 1024;
/** Texts that every record about the bridge contains, and few other lines do. */
const MARKS = [Buffer.from('"bridge_status"'), Buffer.from('"bridge-session"')];

/**
 * The last bridge address in the first `to` bytes of a transcript of Claude Code, for a pool thread; null if there is
 * none or the file does not exist. The bytes before `seen` were searched earlier; of these, only the last line is read
 * again, because it may have been incomplete. Memory use is constant.
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
    // A record may cross a chunk boundary, so each chunk is read with a margin of one record.
    for (let end = Math.min(to, file.stats.size); end > from; ) {
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

/** The address in the last record whose mark is in `[from, to)` of these bytes. */
function lastUrl(bytes: Buffer, from: number, to: number): string | null {
  for (let before = to; ; ) {
    const at = lastMark(bytes, before);
    if (at < from) return null;
    // Each line is parsed once, even if it contains several marks.
    before = bytes.lastIndexOf(0x0a, at) + 1;
    const url = urlOfLine(lineFrom(bytes, before));
    if (url !== null) return url;
  }
}

function lastMark(bytes: Buffer, before: number): number {
  if (before <= 0) return -1;
  return Math.max(...MARKS.map((mark) => bytes.lastIndexOf(mark, before - 1)));
}

/** The line that begins there; empty if it is too long or incomplete. */
function lineFrom(bytes: Buffer, start: number): string {
  const end = bytes.subarray(0, start + MOST_LINE_BYTES + 1).indexOf(0x0a, start);
  return end === -1 ? '' : bytes.toString('utf8', start, end);
}

function urlOfLine(line: string): string | null {
  const record = asTable(jsonOf(line));
  if (record.type === 'system' && record.subtype === 'bridge_status') return bridgeUrl(record.url);
  if (record.type !== 'bridge-session' || typeof record.bridgeSessionId !== 'string') return null;
  const id = record.bridgeSessionId.replace(/^cse_/, 'session_');
  return /^session_[A-Za-z0-9_-]+$/.test(id) ? bridgeUrl(`https://claude.ai/code/${id}`) : null;
}

function readRange(fd: number, from: number, to: number): Buffer {
  return readAtSync(fd, Buffer.allocUnsafe(Math.max(0, to - from)), from);
}
