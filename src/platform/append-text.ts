import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { notAFile, withPath } from './file-error.ts';
import { requireAnswer } from './foreign-paths.ts';

/** Without O_NONBLOCK, a pipe in the place of the file could block the writer. */
const APPEND =
  constants.O_APPEND | constants.O_CREAT | constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOCTTY;
const NEWLINE = 0x0a;

/**
 * Appends whole lines to a file in exactly one write, so that lines of other writers stay whole too. Makes a missing file
 * (0600); ends an incomplete last line of a crashed writer first, in the same write. Throws
 * `not_a_file` and the system error, which names the file; of lines that reached the disk in part, nothing stays unless
 * another writer has appended since.
 */
export async function appendText(path: string, lines: string): Promise<void> {
  await requireAnswer(path);
  const file = await open(path, APPEND, 0o600);
  try {
    const { size } = await regularFile(file, path);
    const bytes = Buffer.from((await endsTorn(file, size)) ? `\n${lines}` : lines);
    const { bytesWritten } = await file.write(bytes);
    if (bytesWritten === bytes.length) return;
    if ((await file.stat()).size === size + bytesWritten) await file.truncate(size);
    throw Object.assign(new Error(`ENOSPC: no space for a whole line, write '${path}'`), {
      code: 'ENOSPC',
      syscall: 'write',
      path,
    });
  } catch (error) {
    throw withPath(error, path);
  } finally {
    await file.close();
  }
}

async function regularFile(file: FileHandle, path: string): Promise<{ size: number }> {
  const stats = await file.stat();
  if (stats.isFile()) return stats;
  throw notAFile(path, 'something else');
}

async function endsTorn(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  const { bytesRead } = await file.read(last, 0, 1, size - 1);
  return bytesRead === 1 && last[0] !== NEWLINE;
}
