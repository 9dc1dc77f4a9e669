import { rmdirSync, rmSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { removeLeftTemporaries, writeFileAtomic } from '../../../platform/atomic-write.ts';
import { makeFolder } from '../../../platform/make-folder.ts';
import { mayRun } from '../../../platform/process-facts.ts';
import type { Change } from './plan.ts';

/** Carries out a plan, each file atomically; removes folders below `home` that become empty. */
export function applyChanges(home: string, changes: readonly Change[]): void {
  for (const { path, text } of changes) {
    if (text === null) {
      rmSync(path, { force: true });
      removeEmpty(home, dirname(path));
    } else {
      makeFolder(dirname(path));
      // No lock is held, so another setup may be writing the same file.
      removeLeftTemporaries(path, mayRun);
      writeFileAtomic(path, text, { mode: 0o600 });
    }
  }
}

function removeEmpty(home: string, folder: string): void {
  const below = relative(home, folder);
  if (below === '' || below.startsWith('..')) return;
  try {
    rmdirSync(folder);
  } catch {
    return;
  }
  removeEmpty(home, dirname(folder));
}
