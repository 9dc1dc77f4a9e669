import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError, messageOf, systemCode } from '../base/errors.ts';
import { makeFolder } from './make-folder.ts';

/**
 * Makes sure that a folder exists, is ours and is open to nobody else (mode 0700), making it where it is missing. With
 * `tighten`, a folder of ours that is open to others is set to 0700; otherwise it is refused. Throws `invalid_config`.
 */
export function ensurePrivateFolder(path: string, options: { tighten: boolean }): void {
  try {
    makeFolder(path);
  } catch (error) {
    throw new CodedError('invalid_config', `cannot make the folder ${path}; choose another path`, {
      cause: error,
    });
  }
  const folder = lstatSync(path);
  if (!folder.isDirectory() || folder.uid !== process.geteuid?.())
    throw new CodedError('invalid_config', `${path} is not a folder of this user; choose another path`);
  if ((folder.mode & 0o077) === 0) return;
  // Other users may have files in such a folder and would lose access.
  if ((folder.mode & 0o1000) !== 0)
    throw new CodedError('invalid_config', `${path} is shared by all users; choose another path`);
  if (!options.tighten)
    throw new CodedError('invalid_config', `${path} is open to other users; run: chmod 700 '${path}'`);
  takeFromOthers(path, 0o700);
}

/**
 * Removes the permissions of other users from our files and folders directly in a private folder, but not from
 * symlinks. Throws `invalid_config` if that fails.
 */
export function closeEntries(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (entry === undefined || entry.uid !== process.geteuid?.()) continue;
    if (!(entry.isFile() || entry.isDirectory()) || (entry.mode & 0o077) === 0) continue;
    takeFromOthers(path, entry.mode & 0o700);
  }
}

function takeFromOthers(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    const message = `${path} is open to other users and its mode cannot be changed (${messageOf(error)}); choose another path`;
    throw new CodedError('invalid_config', message, { cause: error });
  }
}
