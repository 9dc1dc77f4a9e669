import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { systemCode } from '../base/errors.ts';
import { makeFolder } from '../platform/make-folder.ts';

/** Size in bytes at which `events.jsonl` and `messages.jsonl` are renamed, with `.1` after their name. */
export const ROTATE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;
/** Without O_NONBLOCK, a pipe in the place of the file could block the writer. */
const APPEND =
  constants.O_APPEND | constants.O_CREAT | constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOCTTY;
const FILE_MODE = 0o600;

/**
 * Appends one line to a file in exactly one write, so that lines of concurrent writers stay complete. Creates a missing
 * file (0600) and folder (0700). An incomplete last line of a crashed writer is ended first, in the same write; a line
 * that another writer is still appending may look incomplete, which costs a blank line. With `rotate_bytes` a file that has
 * reached that size replaces `<path>.1`; the line is written first, so a crash during rotation loses no line. A file that
 * another writer has replaced meanwhile is left alone. Throws the system error, or an error if the disk took only a part.
 */
export function appendLineSync(path: string, line: object, rotate_bytes?: number): void {
  const fd = openForAppend(path);
  let full = false;
  try {
    const before = sizeToAppendTo(path, fstatSync(fd));
    const last = Buffer.alloc(1);
    const bytesRead = before === 0 ? 0 : readSync(fd, last, 0, 1, before - 1);
    const bytes = bytesOf(line, bytesRead === 1 && last[0] !== NEWLINE);
    const written = writeSync(fd, bytes);
    if (written !== bytes.length)
      throw new Error(
        `only ${written} of ${bytes.length} bytes of a line reached ${path}; free some space on that disk`,
      );
    full = rotate_bytes !== undefined && before + bytes.length >= rotate_bytes && isStillAt(path, fd);
  } finally {
    closeSync(fd);
  }
  if (full) renameSync(path, `${path}.1`);
}

function isStillAt(path: string, fd: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(fd).ino;
}

/** The size of a regular file; throws for anything else, into which a line would be lost. */
function sizeToAppendTo(path: string, stats: Stats): number {
  if (stats.isFile()) return stats.size;
  throw new Error(`${path} is not a regular file, so no line is written to it; move it away`);
}

function bytesOf(line: object, afterTorn: boolean): Buffer {
  const text = `${JSON.stringify(line)}\n`;
  return Buffer.from(afterTorn ? `\n${text}` : text);
}

function openForAppend(path: string): number {
  try {
    return openSync(path, APPEND, FILE_MODE);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    makeFolder(dirname(path));
    return openSync(path, APPEND, FILE_MODE);
  }
}
