import { basename, dirname, join } from 'node:path';
import { acquireFileLock, type LockOwner } from '../platform/file-lock.ts';
import { makeFolder } from '../platform/make-folder.ts';

/**
 * Runs a section while nobody else, in this process or another, changes the operator file. A config dir that is
 * missing is made. Throws `locked` when somebody holds it for long.
 */
export async function withOperatorLock<T>(
  file: string,
  section: () => T | Promise<T>,
  owner?: LockOwner,
): Promise<T> {
  makeFolder(dirname(file));
  const path = join(dirname(file), `.${basename(file)}.lock`);
  const lock = await acquireFileLock(path, owner === undefined ? {} : { owner });
  try {
    return await section();
  } finally {
    lock.release();
  }
}
