import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';

/**
 * The absolute path a program name stands for on a PATH string, or null. No shell is asked. A name with a
 * slash is taken as a path, from `cwd` when it is relative; empty and relative PATH entries are passed over,
 * because what they mean depends on where the daemon happens to stand.
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
