import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../../platform/atomic-write.ts';
import { folderNames } from '../../platform/folder-names.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { READ_LIMITS } from '../../platform/read-limits.ts';
import { readRegularTextSync } from '../../platform/regular-file.ts';
import { isLaunchId, runDirectoryOf } from './run-directory.ts';

/**
 * The agent of a person's session has no `SVC_RUN_DIR` in its environment. Its hooks know the pane that they run in, and
 * find the run directory by a file named for it: `<data dir>/claimed/<pid of the tmux server>-<number of the pane>`, which
 * holds the launch id.
 */
const FOLDER = 'claimed';

/** A pane of a tmux server; `pane` as tmux names it (`%12`). */
export type ClaimedPane = { server: number; pane: string };

/** Names the run of a claimed pane; a claim that was there before is over. */
export function writeClaimedPane(data_dir: string, { server, pane }: ClaimedPane, launch_id: string): void {
  const number = /^%(\d+)$/.exec(pane)?.[1];
  if (number === undefined) return;
  const folder = join(data_dir, FOLDER);
  makeFolder(folder);
  writeFileAtomic(join(folder, `${server}-${number}`), `${launch_id}\n`, { mode: 0o600, durable: false });
}

/** The launch id of the run whose pane `TMUX` and `TMUX_PANE` name; null for none. */
export function runOfClaimedPane(data_dir: string, tmux: string, pane: string): string | null {
  const server = /,(\d+),\d+$/.exec(tmux)?.[1];
  const number = /^%(\d+)$/.exec(pane)?.[1];
  if (server === undefined || number === undefined) return null;
  try {
    const path = join(data_dir, FOLDER, `${server}-${number}`);
    const launch = readRegularTextSync(path, READ_LIMITS.short_file).trim();
    return isLaunchId(launch) ? launch : null;
  } catch {
    return null;
  }
}

/** Removes the names of runs whose directories are gone. */
export function pruneClaimedPanes(data_dir: string, readLaunch: (path: string) => string | null): void {
  const folder = join(data_dir, FOLDER);
  for (const name of folderNames(folder)) {
    const launch_id = readLaunch(join(folder, name));
    if (launch_id === null || !existsSync(runDirectoryOf(data_dir, launch_id)))
      rmSync(join(folder, name), { force: true });
  }
}
