import { basename, dirname, join } from 'node:path';
import { removeLeftTemporaries } from '../platform/atomic-write.ts';
import { acquireFileLock, type LockOwner, removeLeftLockFiles } from '../platform/file-lock.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { storageError } from '../platform/storage-error.ts';

/**
 * Runs a section under the exclusive lock of an operator file, across threads and processes. Creates a missing config
 * dir and removes leftovers of killed writers. Throws `locked` after a timeout and `storage_unavailable` if the disk
 * refuses the write.
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
    throw storageError(file, error, 'that file was not changed');
  }
}
