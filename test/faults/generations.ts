import type { RunManifest } from '../../src/dispatch/run-directory/run-records.ts';
import type { Witness } from './bed.ts';

/** What one daemon was allowed to launch, and when; milliseconds. */
export type Generation = {
  spawned_at: number;
  killed_at: number;
  /** Whether nothing had run on the host when it was spawned. */
  first: boolean;
  released_at: number | null;
  /** When a launch of a fiber was first asked for, by uid. */
  asked: Map<string, number>;
};

/**
 * Launches that nobody allowed: a daemon may launch a fiber after its release, on request, when it saw
 * the fiber's worker run itself, or, on a host where nothing had run, for the first time.
 */
export function withoutAuthority(
  launches: readonly RunManifest[],
  generations: readonly Generation[],
  told: readonly Witness[],
  endOf: (launch_id: string) => number | null,
): string[] {
  const wrong: string[] = [];
  for (const launch of launches) {
    const at = launch.dispatched_at;
    const by = generations.findLast((one) => one.spawned_at <= at && at <= one.killed_at);
    if (by === undefined) {
      wrong.push(`${launch.fiber} was launched at ${at}, when no daemon ran`);
      continue;
    }
    if (by.released_at !== null && by.released_at <= at) continue;
    if ((by.asked.get(launch.uid) ?? Number.POSITIVE_INFINITY) <= at) continue;
    const ran_before = launches.some((one) => one.uid === launch.uid && one.dispatched_at < at);
    if (by.first && !ran_before) continue;
    const seen = told.some(
      (one) =>
        one.event === 'start' &&
        one.uid === launch.uid &&
        one.launch !== launch.launch_id &&
        one.at <= at &&
        (endOf(one.launch) ?? 0) >= by.spawned_at,
    );
    if (!seen) wrong.push(`${launch.fiber} (${launch.launch_id}) was launched at ${at} without authority`);
  }
  return wrong;
}
