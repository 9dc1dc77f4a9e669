import { CodedError, systemCode } from '../base/errors.ts';

/** The system errors of a failed write: what each means and how to fix it. */
const MENDS: Readonly<Record<string, { said: string; mend: string }>> = {
  ENOSPC: { said: 'no space is left', mend: 'free space there' },
  EDQUOT: { said: 'the disk quota of this user is used up', mend: 'delete files or raise the quota' },
  EROFS: { said: 'its file system is read-only', mend: 'remount it writable' },
  EIO: { said: 'its disk reports an error (EIO)', mend: 'check the disk' },
  EACCES: {
    said: 'this user may not write there',
    mend: 'give this user write permission on it and on its folder',
  },
  EPERM: {
    said: 'this user may not write there',
    mend: 'give this user write permission on it and on its folder',
  },
  EFBIG: { said: 'it would grow over the limit of this user for files', mend: 'raise the limit (ulimit -f)' },
  EMFILE: { said: 'too many files are open', mend: 'raise the limit (ulimit -n)' },
  ENFILE: { said: 'too many files are open on this machine', mend: 'end programs that you do not need' },
  ENOENT: { said: 'its folder is missing', mend: 'restore the folder' },
  ENOTDIR: { said: 'a part of its path is not a folder', mend: 'restore the folder' },
};

/** Why `path` could not be written, and the fix, without a full stop; null for any other error. */
export function storageFault(path: string, error: unknown): { said: string; mend: string } | null {
  const known = MENDS[systemCode(error) ?? ''];
  return known === undefined ? null : { said: `${path} cannot be written: ${known.said}`, mend: known.mend };
}

/**
 * The error of a failed write: `storage_unavailable`, where `effect` says what became of the call. Any other error is
 * returned unchanged.
 */
export function storageError(path: string, error: unknown, effect: string): unknown {
  const fault = storageFault(path, error);
  if (fault === null) return error;
  return new CodedError('storage_unavailable', `${fault.said}; ${effect}; ${fault.mend} and try again`, {
    details: { path },
    cause: error,
  });
}

/** Functions whose failed writes are told as what they are; `place` is named for an error without a path. */
export function withStorageErrors<H extends object>(place: string, functions: H): H {
  const entries = Object.entries(functions).map(([name, run]) => {
    const spoken = async (...args: unknown[]) => {
      try {
        return await (run as (...args: unknown[]) => unknown)(...args);
      } catch (error) {
        throw storageErrorOf(error, place);
      }
    };
    return [name, spoken];
  });
  return Object.fromEntries(entries) as H;
}

/** The same for an error that no caller has translated; `place` is used if it names no path. */
export function storageErrorOf(
  error: unknown,
  place: string,
  effect = 'the call was not completed',
): unknown {
  const path = typeof error === 'object' && error !== null && 'path' in error ? error.path : undefined;
  return storageError(typeof path === 'string' ? path : place, error, effect);
}
