import type { Dirent } from 'node:fs';
import { lstat, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { temporaryWriter } from './atomic-write.ts';
import { requireAnswer } from './foreign-paths.ts';
import { mayRun } from './process-facts.ts';

/**
 * A write takes milliseconds. The age is checked too, because a live process of another container may look as if it had
 * ended.
 */
const OLD_MS = 3_600_000;

/**
 * Removes what killed writers left in these folders, now and every hour: what was left just before the start is not old
 * enough yet. Answers the end of it.
 */
export function keepSweepingTemporaries(options: {
  folders: readonly { path: string; depth: number }[];
  clock: Pick<Clock, 'now' | 'every'>;
  logger: Logger;
}): () => void {
  const { folders, clock, logger } = options;
  const sweeps = folders.map(({ path, depth }) => {
    // One at a time: a disk that does not answer holds one thread of this process, however long.
    let last = Promise.resolve();
    return () => {
      last = last.then(async () => {
        const removed = await sweepLeftTemporaries(path, depth, clock.now());
        if (removed > 0)
          logger.info({ path, removed }, 'removed temporary files of writers that were killed');
      });
    };
  });
  const sweep = () => {
    for (const start of sweeps) start();
  };
  sweep();
  return clock.every(OLD_MS, sweep);
}

/**
 * Removes temporary files of killed writers in `folder` and its subfolders, at most `depth` levels down: regular files
 * of this user with the name of an atomic write, older than an hour, whose writer has ended. Follows no symlink and
 * skips what cannot be read or removed. Resolves to the number of removed files.
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
    await requireAnswer(folder);
    return await readdir(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

async function isLeft(path: string, name: string, now: number): Promise<boolean> {
  const pid = temporaryWriter(name);
  const isOwn = pid === process.pid;
  if (pid === null || (!isOwn && mayRun(pid))) return false;
  try {
    const { mtimeMs, uid } = await lstat(path);
    // In a container the earlier daemon had the same process id as this one.
    if (isOwn && mtimeMs >= performance.timeOrigin) return false;
    return uid === process.geteuid?.() && now - mtimeMs > OLD_MS;
  } catch {
    return false;
  }
}
