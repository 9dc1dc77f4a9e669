import type { HeldDataDirMark } from '../../config/data-dir-fault.ts';
import type { HostClass } from '../../config/host-file.ts';
import type { Settings } from '../../config/settings.ts';
import type { HostMemory } from '../run-directory/worker-memory.ts';

/** What the daemon decides once, before the poller starts, and freezes. */
export type PollerSettings = Settings & {
  /** The frozen host id (DSP-3). */
  host_id: string;
  /** Tells this daemon from others of its host id, whatever restarts. */
  daemon_id: string;
  /** When the process began, in milliseconds since the Unix epoch. */
  booted_at: number;
  /** Folder of the leases of stores. */
  runtime_folder: string;
  /** The data folder as the daemon took it. */
  data_dir_mark: HeldDataDirMark;
  /** Roots of the stores to poll (DSP-7). */
  store_roots: readonly string[];
  /** The machine itself was started since the last run of a daemon on this data dir. */
  rebooted: boolean;
  /** The level that the CLI tells; null when it tells none (VER-3). */
  cli_contract: number | null;
  host_class: HostClass;
  /** Most workers that the poller lets run at the same time; null for no bound. */
  max_concurrent: number | null;
  /** A worker that rests keeps its place among these. */
  count_resting: boolean;
  /** Folder with the descriptions of roles, by `host.json`; null where each store has its own (PRM-6). */
  role_store: string | null;
  /** What `host.json` says of the memory of workers. */
  host_memory: HostMemory;
};
