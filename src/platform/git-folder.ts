import { lstat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { requireAnswer } from './foreign-paths.ts';
import { READ_LIMITS } from './read-limits.ts';
import { readRegularText } from './regular-file.ts';

/** Where the repository of a folder begins; `linked`: the absolute path that a `.git` file names, null for a `.git` folder. */
export type GitFolder = { top: string; linked: string | null };

/** A folder and its ancestors, nearest first. */
export function withParents(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...withParents(parent)];
}

/** The nearest `.git` at or above a folder; null where there is none. Throws `file_unavailable` for a folder on a silent disk. */
export async function findGit(folder: string): Promise<GitFolder | null> {
  await requireAnswer(folder);
  for (const top of withParents(folder)) {
    const git = join(top, '.git');
    const is_there = await lstat(git).then(
      () => true,
      () => false,
    );
    if (!is_there) continue;
    const text = await readRegularText(git, READ_LIMITS.short_file).catch(() => '');
    const named = /^gitdir:\s*(.+?)\s*$/m.exec(text)?.[1];
    return { top, linked: named === undefined ? null : resolve(top, named) };
  }
  return null;
}

/**
 * Throws `file_unavailable` where Git would wait for a disk as soon as it looks for the repository of a folder: no signal
 * ends such a child.
 */
export async function requireGit(folder: string): Promise<void> {
  const found = await findGit(folder);
  if (found === null) return;
  await requireAnswer(join(found.top, '.git'));
  if (found.linked !== null) await requireAnswer(found.linked);
}
