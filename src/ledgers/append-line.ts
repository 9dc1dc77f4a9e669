import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { type FileHandle, mkdir, open, rename, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemCode } from '../base/errors.ts';

/** Size in bytes at which `events.jsonl` becomes `events.jsonl.1`. */
export const EVENTS_ROTATE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;
const APPEND = constants.O_APPEND | constants.O_CREAT | constants.O_RDWR;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Adds one line to an append-only file in exactly one write, which is what keeps lines of concurrent writers
 * whole. Makes the file (0600) and its folder (0700) when missing. A torn last line of a writer that died is
 * closed first, in the same write; a line that another writer is still adding may look torn, which costs a
 * blank line. Nothing of this blocks the thread: a disk that hangs holds up a pool thread, and the caller's time limit
 * still runs. With `rotate_bytes`, a file that has that size or more by then becomes `<path>.1` in place of the one
 * before; the line is written first, so that who is cut short in the rotation has lost nothing. Throws the system
 * error, or an error when the disk took only a part.
 */
export async function appendLine(path: string, line: object, rotate_bytes?: number): Promise<void> {
  const file = await openForAppend(path);
  let size: number;
  try {
    const before = (await file.stat()).size;
    const last = Buffer.alloc(1);
    const { bytesRead } = before === 0 ? { bytesRead: 0 } : await file.read(last, 0, 1, before - 1);
    const bytes = bytesOf(line, bytesRead === 1 && last[0] !== NEWLINE);
    requireAll(path, (await file.write(bytes)).bytesWritten, bytes.length);
    size = before + bytes.length;
  } finally {
    await file.close();
  }
  if (rotate_bytes !== undefined && size >= rotate_bytes) await rotateAt(path, rotate_bytes);
}

/** The same for who may not go on before the line is there; rotates nothing. */
export function appendLineSync(path: string, line: object): void {
  const fd = openForAppendSync(path);
  try {
    const { size } = fstatSync(fd);
    const last = Buffer.alloc(1);
    const read = size === 0 ? 0 : readSync(fd, last, 0, 1, size - 1);
    const bytes = bytesOf(line, read === 1 && last[0] !== NEWLINE);
    requireAll(path, writeSync(fd, bytes), bytes.length);
  } finally {
    closeSync(fd);
  }
}

function bytesOf(line: object, afterTorn: boolean): Buffer {
  const text = `${JSON.stringify(line)}\n`;
  return Buffer.from(afterTorn ? `\n${text}` : text);
}

function requireAll(path: string, written: number, all: number): void {
  if (written !== all)
    throw new Error(
      `only ${written} of ${all} bytes of a line reached ${path}; free some space on that disk`,
    );
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
    return await open(path, APPEND, FILE_MODE);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    await makeFolder(dirname(path));
    return await open(path, APPEND, FILE_MODE);
  }
}

function openForAppendSync(path: string): number {
  try {
    return openSync(path, APPEND, FILE_MODE);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    makeFolderSync(dirname(path));
    return openSync(path, APPEND, FILE_MODE);
  }
}

/** Level by level: the recursive call of Node never ends where a folder cannot be made, such as below `/proc`. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: FOLDER_MODE });
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST') return;
    const parent = dirname(path);
    if (code !== 'ENOENT' || (await exists(parent))) throw error;
    await makeFolder(parent);
    await mkdir(path, { mode: FOLDER_MODE });
  }
}

function makeFolderSync(path: string): void {
  try {
    mkdirSync(path, { mode: FOLDER_MODE });
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST') return;
    const parent = dirname(path);
    if (code !== 'ENOENT' || existsSync(parent)) throw error;
    makeFolderSync(parent);
    mkdirSync(path, { mode: FOLDER_MODE });
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
