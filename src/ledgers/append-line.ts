import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { CodedError, systemCode } from '../base/errors.ts';

const NEWLINE = 0x0a;

/**
 * Adds one line to an append-only file in exactly one write, which is what keeps lines of concurrent writers
 * whole. Makes the file (0600) and its folder (0700) when missing. A torn last line of a writer that died is
 * closed first, in the same write. Throws the system error, or `internal` when the disk took only a part.
 */
export function appendLine(path: string, line: Record<string, unknown>): void {
  const fd = openForAppend(path);
  try {
    const text = `${JSON.stringify(line)}\n`;
    const bytes = Buffer.from(endsInsideLine(fd) ? `\n${text}` : text);
    const written = writeSync(fd, bytes);
    if (written !== bytes.length)
      throw new CodedError(
        'internal',
        `Only ${written} of ${bytes.length} bytes of a line reached ${path}; free some space on that disk`,
        { details: { path } },
      );
  } finally {
    closeSync(fd);
  }
}

function openForAppend(path: string): number {
  try {
    return openSync(path, 'a+', 0o600);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return openSync(path, 'a+', 0o600);
  }
}

function endsInsideLine(fd: number): boolean {
  const { size } = fstatSync(fd);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  return readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== NEWLINE;
}
