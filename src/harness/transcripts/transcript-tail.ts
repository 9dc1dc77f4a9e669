import { systemCode } from '../../base/errors.ts';
import { type OpenFileHandle, openRegularFile } from '../../platform/regular-file.ts';

/** Limit of how much of a transcript's end is read. */
export const MOST_TAIL_BYTES = 256 * 1024;

/**
 * The records at the end of a transcript, newest first, without incomplete or invalid lines. Empty if the file does not
 * exist; throws other errors.
 */
export async function readTail(path: string): Promise<Iterable<Record<string, unknown>>> {
  const text = await textAtEnd(path);
  return (function* () {
    const lines = text.split('\n');
    for (let index = lines.length - 1; index >= 0; index -= 1) {
      const record = recordOf(lines[index] ?? '');
      if (record !== null) yield record;
    }
  })();
}

async function textAtEnd(path: string): Promise<string> {
  let opened: OpenFileHandle;
  try {
    opened = await openRegularFile(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return '';
    throw error;
  }
  const { file, stats } = opened;
  try {
    const { size } = stats;
    const bytes = Buffer.alloc(Math.min(size, MOST_TAIL_BYTES));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

function recordOf(line: string): Record<string, unknown> | null {
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}
