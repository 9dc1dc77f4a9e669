import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { unansweredWords } from './disks.ts';
import { mayFollow } from './foreign-paths.ts';

/**
 * Resolves a program name on a PATH string to an absolute path, or null, without a shell. A name with a slash is a
 * path, relative to `cwd`. Empty and relative PATH entries are skipped, because they depend on the daemon's working
 * directory; so are folders and programs on a disk that does not answer.
 */
export async function findExecutable(
  name: string,
  path: string,
  cwd = process.cwd(),
): Promise<string | null> {
  return (await searchPath(name, path, cwd)).found;
}

/** The same, with the folders of PATH whose disk does not answer. */
export async function searchPath(
  name: string,
  path: string,
  cwd = process.cwd(),
): Promise<{ found: string | null; silent: string[] }> {
  if (name === '' || name.includes('\0')) return { found: null, silent: [] };
  if (name.includes('/')) {
    const file = resolve(cwd, name);
    return { found: (await isExecutableFile(file)) ? file : null, silent: [] };
  }
  const folders = path.split(':').filter((folder) => isAbsolute(folder));
  const silent = await silentFolders(path);
  for (const folder of folders) {
    const file = join(folder, name);
    if (!silent.includes(folder) && (await isExecutableFile(file))) return { found: file, silent };
  }
  return { found: null, silent };
}

/** That a program is not on PATH, with each folder of it that could not be looked into. */
export function notOnPath(silent: readonly string[]): string {
  const why = silent.map((folder) => `; ${unansweredWords(folder, 'silent')}`);
  return `it is not on PATH${why.join('')}`;
}

/** The folders of a PATH string whose disk does not answer. */
export async function silentFolders(path: string): Promise<string[]> {
  const folders = [...new Set(path.split(':').filter((folder) => isAbsolute(folder)))];
  const proofs = await Promise.all(folders.map((folder) => mayFollow(folder)));
  return folders.filter((_, nth) => proofs[nth] !== 'answers');
}

async function isExecutableFile(file: string): Promise<boolean> {
  try {
    if ((await mayFollow(file)) !== 'answers') return false;
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
