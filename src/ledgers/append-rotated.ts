import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemCode } from '../base/errors.ts';

/** Size in bytes at which `events.jsonl` becomes `events.jsonl.1`. */
export const EVENTS_ROTATE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;
const APPEND = constants.O_APPEND | constants.O_CREAT | constants.O_RDWR;

/**
 * Adds one line to an append-only file in one write, without ever blocking this thread: a disk that hangs holds
 * up a pool thread, and the caller's time limit still runs. With `rotate_bytes`, a file that has that size or more
 * by then becomes `<path>.1` in place of the one before. The line is written first, so that who is cut short in
 * the rotation has lost nothing. Makes file (0600) and folder (0700) when missing. Throws the system error.
 */
export async function appendRotated(path: string, line: object, rotate_bytes?: number): Promise<void> {
  const file = await openForAppend(path);
  let size: number;
  try {
    const text = `${JSON.stringify(line)}\n`;
    const before = (await file.stat()).size;
    const isTorn = await endsInsideLine(file, before);
    const bytes = Buffer.from(isTorn ? `\n${text}` : text);
    await file.write(bytes);
    size = before + bytes.length;
  } finally {
    await file.close();
  }
  if (rotate_bytes !== undefined && size >= rotate_bytes) await rotateAt(path, rotate_bytes);
}

async function rotateAt(path: string, limit: number): Promise<void> {
  // Most lines find a file that is far from its bound, and an agent waits for each.
  const { tryFileLock } = await import('../platform/file-lock.ts');
  const lock = tryFileLock(join(dirname(path), `.${basename(path)}.lock`));
  if (lock === null) return;
  try {
    // Somebody else may have rotated between the write and the lock.
    if ((await sizeOf(path)) >= limit) await rename(path, `${path}.1`);
  } finally {
    lock.release();
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 0;
    throw error;
  }
}

async function openForAppend(path: string): Promise<FileHandle> {
  try {
    return await open(path, APPEND, 0o600);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    await makeFolder(dirname(path));
    return await open(path, APPEND, 0o600);
  }
}

/** Level by level: the recursive call of Node never ends where a folder cannot be made, such as below `/proc`. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST') return;
    const parent = dirname(path);
    if (code !== 'ENOENT' || (await exists(parent))) throw error;
    await makeFolder(parent);
    await mkdir(path, { mode: 0o700 });
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

async function endsInsideLine(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  const { bytesRead } = await file.read(last, 0, 1, size - 1);
  return bytesRead === 1 && last[0] !== NEWLINE;
}
