import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemCode } from '../base/errors.ts';

/**
 * Makes a folder, open to nobody else (mode 0700), and those above it that are missing; one that is there stays as it
 * is. Throws what the system says. Node's own recursive way never returns below a file system that says of every new
 * name that its parent is missing, as `/proc` does.
 */
export function makeFolder(path: string): void {
  const above = dirname(path);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' && above !== path && !isThere(above)) {
      makeFolder(above);
      makeFolder(path);
    } else if (code !== 'EEXIST' || !statSync(path).isDirectory()) throw error;
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
