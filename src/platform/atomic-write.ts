import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

let counter = 0;

/**
 * Replaces `path` in one step: a reader sees the old bytes or the new ones, also after a crash.
 * The file gets `mode` (0600 unless told).
 */
export function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  options: { mode?: number } = {},
): void {
  const folder = dirname(path);
  counter += 1;
  const temporary = join(folder, `.${basename(path)}.${process.pid}.${counter}.tmp`);
  try {
    const file = openSync(temporary, 'wx', options.mode ?? 0o600);
    try {
      writeFileSync(file, data);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
