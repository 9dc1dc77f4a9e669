import { type Dirent, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { FIBERS_FOLDER, idOfPath, isSafeId, leafOf } from '../../../fibers/fiber-id.ts';

/** Limit of folders per store that one completion may read. */
const MOST_FOLDERS = 20_000;

/**
 * Ids of the fibers of these stores that begin with `typed`; if none do, the unique leaves that do. Reads only folder
 * names, so it is fast; skips what cannot be read.
 */
export function fiberWords(roots: readonly string[], typed: string): string[] {
  const ids = [...new Set(roots.flatMap((root) => fiberIds(join(root, FIBERS_FOLDER))))].sort();
  const whole = ids.filter((id) => id.startsWith(typed));
  if (whole.length > 0) return whole;
  const count = new Map<string, number>();
  for (const id of ids) count.set(leafOf(id), (count.get(leafOf(id)) ?? 0) + 1);
  return [...count].filter(([leaf, times]) => times === 1 && leaf.startsWith(typed)).map(([leaf]) => leaf);
}

function fiberIds(top: string): string[] {
  const ids: string[] = [];
  const waiting = [top];
  for (let looked = 0; looked < MOST_FOLDERS; looked += 1) {
    const folder = waiting.pop();
    if (folder === undefined) break;
    for (const entry of entriesOf(folder)) {
      if (entry.name.startsWith('.')) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else if (
        folder === top ? entry.name.endsWith('.md') : path.endsWith(`/${leafOf(folder)}/${leafOf(folder)}.md`)
      )
        ids.push(idOfPath(relative(top, path)));
    }
  }
  return ids.filter(isSafeId);
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
