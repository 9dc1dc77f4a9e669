import type { Stats } from 'node:fs';
import type { Stamp } from './sweep-table.ts';

/** A change this recent may be followed by one with the same timestamp. */
const SETTLING_MS = 2_000;

/** The stamp of what could not be read; no file has it. */
export const NO_STAMP: Stamp = { mtimeMs: -1, ctimeMs: -1, size: -1, ino: -1 };

/** The stamp of a file or folder as it was looked at. */
export function stampOf(stat: Stats): Stamp {
  return { mtimeMs: stat.mtimeMs, ctimeMs: stat.ctimeMs, size: stat.size, ino: stat.ino };
}

/** A later change will show in the stamp. */
export function isSettled(stat: Stats, now: number): boolean {
  return now - Math.max(stat.mtimeMs, stat.ctimeMs) > SETTLING_MS;
}

/** A token for the current state of a document; each change gives another token. */
export function tokenOf(path: string, { mtimeMs, ctimeMs, size, ino }: Stats): string {
  return `${mtimeMs}:${ctimeMs}:${size}:${ino} ${path}`;
}

/** The path below `.fibers` of the document of a token. */
export function pathOfToken(token: string): string {
  return token.slice(token.indexOf(' ') + 1);
}
