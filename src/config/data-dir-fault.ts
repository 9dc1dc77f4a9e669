import { statSync } from 'node:fs';
import { messageOf, systemCode } from '../base/errors.ts';
import { lockHolder } from '../platform/file-lock.ts';

/** The identity of a data dir at boot, to notice later that it was replaced. */
export type HeldDataDirMark = {
  path: string;
  /** Device and inode of the folder. */
  folder: string;
  /** The locks that only this process may hold; a missing one is no fault. */
  locks: readonly string[];
};

/** Records the current identity of the folder. */
export function markDataDir(path: string, locks: readonly string[]): HeldDataDirMark {
  return { path, folder: identityOf(path), locks };
}

/** Why the data dir can no longer be used, as a sentence with the fix; null if it is intact. */
export function dataDirFault({ path, folder, locks }: HeldDataDirMark): string | null {
  const mend = 'no worker starts until this is fixed';
  try {
    if (identityOf(path) !== folder)
      return `the data folder ${path} was replaced by another folder; restore the first one, or run: svc daemon restart; ${mend}`;
    const other = locks
      .map((lock) => lockHolder(lock))
      .find((holder) => holder !== null && holder.pid !== process.pid);
    if (other != null)
      return `another daemon (pid ${other.pid} on ${other.host}) uses the data folder ${path} too; end one of the two; ${mend}`;
    return null;
  } catch (error) {
    const code = systemCode(error);
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? `the data folder ${path} was deleted under the running daemon (pid ${process.pid}); restore it, or run: svc daemon restart; ${mend}`
      : `the data folder ${path} cannot be read (${messageOf(error)}); ${mend}`;
  }
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}
