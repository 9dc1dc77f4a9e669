import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemCode } from '../base/errors.ts';

/** Readable and writable by the owner only. */
const PRIVATE = 0o700;

/**
 * Makes a folder and its missing ancestors, each with `mode` minus the umask; an existing folder is not changed. Throws
 * the system error. Node's recursive `mkdir` loops forever on a file system that answers ENOENT for every new name, as
 * `/proc` does.
 */
export function makeFolder(path: string, mode = PRIVATE): void {
  if (made(path, mode) === null) return;
  const above = dirname(path);
  if (above !== path && statSync(above, { throwIfNoEntry: false }) === undefined) makeFolder(above, mode);
  const missing = made(path, mode);
  if (missing !== null) throw missing;
}

/** Null if the folder exists now; the error if its parent is missing. */
function made(path: string, mode: number): unknown {
  try {
    mkdirSync(path, { mode });
    return null;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT') return error;
    if (code !== 'EEXIST' || !statSync(path).isDirectory()) throw error;
    return null;
  }
}
