import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemCode } from '../base/errors.ts';

/** Open to nobody but its owner. */
const PRIVATE = 0o700;

/**
 * Makes a folder and those above it that are missing, each with `mode` less the umask; one that is there stays as it
 * is. Throws what the system says. Node's own recursive way never returns below a file system that says of every new
 * name that its parent is missing, as `/proc` does.
 */
export function makeFolder(path: string, mode = PRIVATE): void {
  if (made(path, mode) === null) return;
  const above = dirname(path);
  if (above !== path && statSync(above, { throwIfNoEntry: false }) === undefined) makeFolder(above, mode);
  const missing = made(path, mode);
  if (missing !== null) throw missing;
}

/** Null when the folder is there now; the error when the one above it is missing. */
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
