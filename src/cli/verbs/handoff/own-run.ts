import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createRunner } from '../../../platform/process.ts';
import { createProcessFacts } from '../../../platform/process-facts.ts';
import { READ_LIMITS } from '../../../platform/read-limits.ts';
import { readRegularTextSync } from '../../../platform/regular-file.ts';

/**
 * The run directory of the current run, found without `SVC_RUN_DIR`, which is not set in a session that a person
 * started and claimed. It is the fiber's open run whose agent, by pid and start time, is an ancestor of this process;
 * null if there is none.
 */
export async function findOwnRun(data_dir: string, uid: string): Promise<string | null> {
  const open = openRuns(data_dir, (run) => run.uid === uid);
  if (open.length === 0) return null;
  const facts = createProcessFacts({ platform: process.platform, runner: createRunner() });
  const table = (await facts.table()) ?? [];
  const above = new Map<number, string>();
  for (let pid = process.pid; !above.has(pid); ) {
    const row = table.find((one) => one.pid === pid);
    if (row === undefined) break;
    above.set(row.pid, row.start_time);
    pid = row.parent;
  }
  return open.find(({ agent }) => above.get(agent.pid) === agent.start_time)?.dir ?? null;
}

type OpenRun = { dir: string; agent: { pid: number; start_time: string } };

/** The records of runs that have not ended, newest first. */
export function openRuns(
  data_dir: string,
  isWanted: (run: { uid: string; path: string }) => boolean,
): OpenRun[] {
  const runs = join(data_dir, 'runs');
  let names: string[];
  try {
    names = readdirSync(runs).sort().reverse();
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    try {
      const dir = join(runs, name);
      const run = JSON.parse(readRegularTextSync(join(dir, 'run.json'), READ_LIMITS.run_file));
      if (run.state === 'ended' || !isWanted(run)) return [];
      return [{ dir, agent: JSON.parse(readRegularTextSync(join(dir, 'agent.pid'), READ_LIMITS.run_file)) }];
    } catch {
      // The run is being made or removed.
      return [];
    }
  });
}
