import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';

/**
 * The absolute path that a program name stands for on a PATH string, or null. A name with a slash is a path, taken
 * from `cwd` where it is relative; empty and relative PATH entries are passed over.
 */
export function findExecutable(name: string, path: string, cwd = process.cwd()): string | null {
  if (name === '' || name.includes('\0')) return null;
  const files = name.includes('/')
    ? [resolve(cwd, name)]
    : path
        .split(':')
        .filter((folder) => isAbsolute(folder))
        .map((folder) => join(folder, name));
  return files.find(isExecutableFile) ?? null;
}

function isExecutableFile(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
