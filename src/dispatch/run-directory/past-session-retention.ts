import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { MuxListing } from '../../mux/mux.ts';
import { paneOfLaunch } from '../../mux/mux-listing.ts';
import { folderNames } from '../../platform/folder-names.ts';
import { DEFAULT_RETENTION } from './run-directories.ts';

/** Below the data dir: one folder for each past session that was opened in a terminal, with what started it. */
export const RESUMED_FOLDER = 'resumed';

/**
 * Removes what started terminals of past sessions that are no longer open and were started longer ago than runs are
 * kept; answers how many. While tmux does not tell its sessions nothing is removed.
 */
export function prunePastSessions(data_dir: string, listing: MuxListing, now: number): number {
  if (listing.kind === 'unknown') return 0;
  const root = join(data_dir, RESUMED_FOLDER);
  const old = folderNames(root).filter((session) => {
    if (paneOfLaunch(listing, session) !== undefined) return false;
    return now - statSync(join(root, session)).mtimeMs > DEFAULT_RETENTION.max_age_ms;
  });
  for (const session of old) rmSync(join(root, session), { recursive: true, force: true });
  return old.length;
}
