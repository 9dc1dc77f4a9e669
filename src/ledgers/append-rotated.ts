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
 * up a pool thread, and the caller's time limit still runs. With `rotate_bytes`, a file of that size or more first
 * becomes `<path>.1` in place of the one before. Who rotates holds a lock; who does not get it appends to the file
 * as it is, so a line lands in the old or in the new file. Makes file (0600) and folder (0700) when missing.
 * Throws the system error.
 */
export async function appendRotated(path: string, line: object, rotate_bytes?: number): Promise<void> {
  if (rotate_bytes !== undefined) await rotateAt(path, rotate_bytes);
  const file = await openForAppend(path);
  try {
    const text = `${JSON.stringify(line)}\n`;
    await file.write(Buffer.from((await endsInsideLine(file)) ? `\n${text}` : text));
  } finally {
    await file.close();
  }
}

async function rotateAt(path: string, limit: number): Promise<void> {
  if ((await sizeOf(path)) < limit) return;
  // Most lines find a file that is far from its bound, and an agent waits for each.
  const { tryFileLock } = await import('../platform/file-lock.ts');
  const lock = tryFileLock(join(dirname(path), `.${basename(path)}.lock`));
  if (lock === null) return;
  try {
    // Somebody else may have rotated between the look and the lock.
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

async function endsInsideLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  const { bytesRead } = await file.read(last, 0, 1, size - 1);
  return bytesRead === 1 && last[0] !== NEWLINE;
}
