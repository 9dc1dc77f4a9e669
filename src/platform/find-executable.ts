import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';

/**
 * Resolves a program name on a PATH string to an absolute path, or null, without a shell. A name with a slash is a
 * path, relative to `cwd`. Empty and relative PATH entries are skipped, because they depend on the daemon's working
 * directory.
 */
export function findExecutable(name: string, path: string, cwd = process.cwd()): string | null {
  if (name === '' || name.includes('\0')) return null;
  if (name.includes('/')) {
    const file = resolve(cwd, name);
    return isExecutableFile(file) ? file : null;
  }
  for (const folder of path.split(':')) {
    if (!isAbsolute(folder)) continue;
    const file = join(folder, name);
    if (isExecutableFile(file)) return file;
  }
  return null;
}

function isExecutableFile(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
