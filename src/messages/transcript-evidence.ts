import { systemCode } from '../base/errors.ts';
import type { JsonRecord } from '../harness/transcripts/said.ts';
import { openRegularFile } from '../platform/regular-file.ts';

/** How much of a transcript is searched for one message, from where it was sent. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * The records of a transcript after an offset, oldest first, from the first line with the marker; none if no line has
 * it. An incomplete last line is left out. Throws the system's errors but for a file that is not there.
 */
export async function recordsFrom(path: string, offset: number, marker: string): Promise<JsonRecord[]> {
  const bytes = await bytesFrom(path, offset);
  const first = bytes.indexOf(marker);
  if (first === -1) return [];
  const begin = bytes.lastIndexOf(0x0a, first) + 1;
  const end = bytes.lastIndexOf(0x0a) + 1;
  return bytes
    .toString('utf8', begin, Math.max(begin, end))
    .split('\n')
    .flatMap((line) => {
      const record = recordOf(line);
      return record === null ? [] : [record];
    });
}

async function bytesFrom(path: string, offset: number): Promise<Buffer> {
  try {
    const { file, stats } = await openRegularFile(path);
    try {
      const length = Math.min(Math.max(stats.size - offset, 0), MOST_BYTES);
      const bytes = Buffer.alloc(length);
      const { bytesRead } = await file.read(bytes, 0, length, offset);
      return bytes.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

function recordOf(line: string): JsonRecord | null {
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line) as JsonRecord;
  } catch {
    return null;
  }
}
