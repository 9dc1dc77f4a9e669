import type { Dirent } from 'node:fs';
import { lstat, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryWriter } from './atomic-write.ts';
import { mayRun } from './process-facts.ts';

/** A write takes milliseconds; a process id of another container may look like one that has ended. */
const OLD_MS = 3_600_000;

/**
 * Removes the temporary files that writers which were killed left in `folder` and the folders below it, at most
 * `depth` levels down: regular files of this user that are named as an atomic write names them, whose writer has ended
 * and which are older than an hour. Follows no link; what cannot be read or removed stays. Resolves to how many went.
 */
export async function sweepLeftTemporaries(folder: string, depth: number, now: number): Promise<number> {
  let removed = 0;
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && depth > 0) removed += await sweepLeftTemporaries(path, depth - 1, now);
    else if (entry.isFile() && (await isLeft(path, entry.name, now))) {
      await unlink(path).then(
        () => {
          removed += 1;
        },
        () => undefined,
      );
    }
  }
  return removed;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

async function isLeft(path: string, name: string, now: number): Promise<boolean> {
  const pid = temporaryWriter(name);
  if (pid === null || mayRun(pid)) return false;
  try {
    const { mtimeMs, uid } = await lstat(path);
    return uid === process.geteuid?.() && now - mtimeMs > OLD_MS;
  } catch {
    return false;
  }
}
