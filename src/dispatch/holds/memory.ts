import { type Run, runStarted } from '../run/run.ts';
import { recordDispatch } from '../run/run-ledger.ts';
import type { Runs } from '../run/runs.ts';
import type { StoreLeases } from '../stores/store-leases.ts';
import type { World } from '../world/world.ts';
import type { Brake } from './brake.ts';
import type { BreakerBook } from './breaker-book.ts';
import type { DataDirWatch } from './data-dir-watch.ts';
import type { IncidentBook } from './incidents.ts';
import type { LastDeaths } from './last-deaths.ts';
import type { OwedStart } from './owed-starts.ts';
import type { Quarantine } from './quarantine.ts';
import type { Refusals } from './refusals.ts';
import type { StartGate } from './start-gate.ts';
import type { UsageLimitBook } from './usage-limit-book.ts';

/** Why the running workers are unknown, while `mux_answers` is false. */
export const UNTOLD = 'tmux has not reported yet which workers run';

/** What the dispatcher remembers of each fiber, by fiber key. */
export type Memory = {
  runs: Runs;
  refusals: Refusals;
  quarantine: Quarantine;
  breaker: BreakerBook;
  /** Workers that ended with their server or with the machine, until a person decides about them. */
  incidents: IncidentBook;
  /** How the last worker of each fiber died. */
  deaths: LastDeaths;
  /** Sessions that have the name of a worker of a fiber and are none, as the last listing told. */
  not_ours: ReadonlyMap<string, readonly string[]>;
  /** Starts under way: the fiber is claimed although it has no run yet. */
  starting: Set<string>;
  /** Ended runs whose documents are absent or could not be written yet: their fibers wait until they can be. */
  unconcluded: Map<string, Run>;
  /** The emergency brake of the whole daemon. */
  brake: Brake;
  /** Which stores this daemon may dispatch from. */
  leases: Pick<StoreLeases, 'of' | 'confirm'>;
  /** The folder that starts are recorded in. */
  data_dir: Pick<DataDirWatch, 'fault' | 'look'>;
  /** tmux has answered, and every worker of an earlier daemon is known. */
  mux_answers: boolean;
  /** False until a first listing was understood: before that nobody can tell what runs, and so not what waits. */
  adopted: boolean;
  /** Most workers that the poller lets run at the same time (`max_concurrent` of host.json); null for no bound. */
  most_workers: number | null;
  /** How long a worker that waits for a person or for its limit keeps its place, in milliseconds; null for as long as it runs. */
  place_kept_ms: number | null;
  /** Holds new starts back while the machine is short of resources. */
  starts: StartGate;
  /** Fresh starts that are still owed after a start that resumed in vain (P7). */
  owed: Map<string, OwedStart>;
  /** Usage limits that accounts are over (P10). */
  limits: UsageLimitBook;
};

/** Records a completed start: in the ledger, in the run directory, and in the memory of its fiber. */
export function cameAbout(
  world: Pick<World, 'clock' | 'host' | 'recordSession' | 'runDirectories'>,
  { refusals, quarantine }: Pick<Memory, 'quarantine' | 'refusals'>,
  run: Run,
): void {
  runStarted(run);
  recordDispatch(world, run);
  world.runDirectories.update(run.launch_id, { state: 'spawned' });
  refusals.clear(run.key);
  quarantine.sawRunning(run.key, run.launch_id);
}
