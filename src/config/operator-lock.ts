import { basename, dirname, join } from 'node:path';
import { removeLeftTemporaries } from '../platform/atomic-write.ts';
import { acquireFileLock, type LockOwner, removeLeftLockFiles } from '../platform/file-lock.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { storageError } from '../platform/storage-error.ts';

/**
 * Runs a section while nobody else, in this process or another, changes the operator file. A config dir that is
 * missing is made, and what writers left that were killed is removed. Throws `locked` when somebody holds it for long,
 * and `storage_unavailable` where the disk does not take it.
 */
export async function withOperatorLock<T>(
  file: string,
  section: () => T | Promise<T>,
  owner?: LockOwner,
): Promise<T> {
  try {
    makeFolder(dirname(file));
    const path = join(dirname(file), `.${basename(file)}.lock`);
    const lock = await acquireFileLock(path, owner === undefined ? {} : { owner });
    try {
      removeLeftTemporaries(file);
      removeLeftLockFiles(path);
      return await section();
    } finally {
      lock.release();
    }
  } catch (error) {
    throw storageError(file, error, 'nothing was changed');
  }
}
