import { statSync } from 'node:fs';
import { messageOf, systemCode } from '../base/errors.ts';
import { lockHolder } from '../platform/file-lock.ts';

/** A data dir as the daemon took it, to know it again. */
export type HeldDataDirMark = {
  path: string;
  /** Device and inode of the folder. */
  folder: string;
  /** The locks that only this process may hold; one that is missing says nothing. */
  locks: readonly string[];
};

/** Marks the folder as it is now. */
export function markDataDir(path: string, locks: readonly string[]): HeldDataDirMark {
  return { path, folder: identityOf(path), locks };
}

/** What became of a data dir under its daemon, as a sentence with the mend; null while all is well. */
export function dataDirFault({ path, folder, locks }: HeldDataDirMark): string | null {
  const mend = 'nothing is started meanwhile';
  try {
    if (identityOf(path) !== folder)
      return `another folder lies in the place of the data folder ${path}; put the first one back, or run: svc daemon restart; ${mend}`;
    const other = locks
      .map((lock) => lockHolder(lock))
      .find((holder) => holder !== null && holder.pid !== process.pid);
    if (other != null)
      return `another daemon (pid ${other.pid} on ${other.host}) has taken the data folder ${path}; end one of the two; ${mend}`;
    return null;
  } catch (error) {
    const code = systemCode(error);
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? `the data folder ${path} was deleted under the running daemon (pid ${process.pid}); put it back, or run: svc daemon restart; ${mend}`
      : `the data folder ${path} cannot be looked at (${messageOf(error)}); ${mend}`;
  }
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}
