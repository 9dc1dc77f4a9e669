import { rmSync } from 'node:fs';
import type { RunEntry } from './run-directory.ts';

/** How many ended runs are kept, and how long, in milliseconds; a run over either bound is removed. */
export type RunRetention = { most: number; max_age_ms: number };

export const DEFAULT_RETENTION: RunRetention = { most: 200, max_age_ms: 14 * 24 * 60 * 60 * 1000 };

/** Directories to remove. Only ended runs are: one that may be alive or cannot be read is never touched. */
export function selectExpiredRuns(
  entries: readonly RunEntry[],
  now: number,
  retention: RunRetention = DEFAULT_RETENTION,
): string[] {
  const ended = entries
    .filter((entry) => entry.kind === 'run')
    .filter((entry) => entry.manifest.state === 'ended')
    .map(({ dir, manifest }) => ({ dir, at: manifest.ended_at ?? manifest.dispatched_at }))
    .sort((a, b) => b.at - a.at);
  return ended
    .filter((run, rank) => rank >= retention.most || now - run.at > retention.max_age_ms)
    .map((run) => run.dir);
}

/** Removes what `selectExpiredRuns` chose. */
export function removeRuns(dirs: readonly string[]): void {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
}
