import { chmodSync, lstatSync } from 'node:fs';
import { CodedError } from '../base/errors.ts';
import { makeFolder } from './make-folder.ts';

/**
 * Makes sure that a folder exists, is ours and is open to nobody else (mode 0700), making it where it is missing.
 * `tighten` takes the rights of others away from a folder of ours; otherwise such a folder is refused.
 * Throws `invalid_config` with the mend.
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
  if (!options.tighten)
    throw new CodedError('invalid_config', `${path} is open to other users; run: chmod 700 '${path}'`);
  chmodSync(path, 0o700);
}
