import { realpath, stat } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import { systemCode } from '../../base/errors.ts';
import type { DirectoryLook } from '../world.ts';

/** How long a directory on a stuck disk may keep a launch waiting, in milliseconds. */
const DEADLINE_MS = 5_000;

/** Looks at a directory, off this thread and bounded in time. */
export function lookAtDirectory(path: string, clock: Clock): Promise<DirectoryLook> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(DEADLINE_MS, () => resolve({ kind: 'silent', after_ms: DEADLINE_MS }));
    look(path).then(resolve, reject).finally(cancel);
  });
}

async function look(path: string): Promise<DirectoryLook> {
  try {
    const found = await stat(path);
    return found.isDirectory()
      ? { kind: 'directory', real: await realpath(path) }
      : { kind: 'not_directory' };
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' };
    return { kind: 'unreadable', detail: code ?? 'unknown error' };
  }
}
