import { mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { acquireFileLock, type LockOwner } from '../platform/file-lock.ts';

/**
 * Runs a section while nobody else, in this process or another, changes the operator file. A config dir that is
 * missing is made. Throws `locked` when somebody holds it for long.
 */
export async function withOperatorLock<T>(
  file: string,
  section: () => T | Promise<T>,
  owner?: LockOwner,
): Promise<T> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const path = join(dirname(file), `.${basename(file)}.lock`);
  const lock = await acquireFileLock(path, owner === undefined ? {} : { owner });
  try {
    return await section();
  } finally {
    lock.release();
  }
}
