import { opendirSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError, messageOf, systemCode } from '../base/errors.ts';
import { shellWord } from '../base/shell-word.ts';
import { withPath } from '../platform/file-error.ts';
import { FIBERS_FOLDER } from './fiber-id.ts';

/** Why a store cannot be read as a whole, such as one whose disk is not mounted; null for one that can. */
export function storeAway(root: string): unknown {
  const base = join(root, FIBERS_FOLDER);
  try {
    const folder = opendirSync(base);
    try {
      // A disk that fails may open a folder and not list it.
      folder.readSync();
    } finally {
      folder.closeSync();
    }
    return null;
  } catch (error) {
    return withPath(error, base);
  }
}

/** The same in words, with the fix. */
export function storeFault(root: string, error: unknown): { said: string; mend: string } {
  const said = `the store ${root} cannot be read (${messageOf(error)})`;
  switch (systemCode(error)) {
    case 'EACCES':
    case 'EPERM':
      return { said, mend: `give this user permission to read ${join(root, FIBERS_FOLDER)}` };
    case 'EMFILE':
    case 'ENFILE':
      return { said, mend: 'raise the limit of open files (ulimit -n)' };
    default:
      return {
        said,
        mend: `mount its disk or fix its path; make a new one with: svc fiber init ${shellWord(root)}`,
      };
  }
}

/** The refusal of a store that cannot be read as a whole. */
export function storeUnavailable(root: string, error: unknown): CodedError {
  const { said, mend } = storeFault(root, error);
  return new CodedError('store_unavailable', `${said}; ${mend}`, { cause: error });
}
