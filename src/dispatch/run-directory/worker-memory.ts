import { basename, dirname, join, normalize } from 'node:path';
import type { Logger } from '../../base/logger.ts';
import type { Agent } from '../../contract/agent.ts';
import type { WorkerMemoryView } from '../../contract/http/state.ts';
import { memoryBytes } from '../../contract/memory-max.ts';
import { type GroupMemory, readGroup, readGroupMemory, usedIn } from '../../platform/control-groups.ts';
import {
  type GroupEntry,
  groupEntry,
  type MemoryMechanism,
  removeParentGroup,
  removeRunGroup,
  sweepGroups,
} from '../../platform/memory-groups.ts';
import { READ_LIMITS } from '../../platform/read-limits.ts';
import { readRegularTextSync } from '../../platform/regular-file.ts';
import { RUN_FILES } from './run-directory.ts';

/** What `host.json` says of the memory of workers; absent keys have their defaults. */
export type HostMemory = { memory_max?: string; memory_max_total?: string };

/** The part of `host.json` on the memory of workers. */
export function hostMemory({ memory_max, memory_max_total }: HostMemory): HostMemory {
  return {
    ...(memory_max === undefined ? {} : { memory_max }),
    ...(memory_max_total === undefined ? {} : { memory_max_total }),
  };
}

/** Limits in bytes; null for none. */
export type MemoryLimits = { machine: number; worker: number | null; total: number | null };

const DEFAULTS = { memory_max: '50%', memory_max_total: '85%' };

/** The limits of one worker and of all together, on a machine with this much memory. */
export function memoryLimits(machine: number, host: HostMemory): MemoryLimits {
  return {
    machine,
    worker: memoryBytes(host.memory_max ?? DEFAULTS.memory_max, machine),
    total: memoryBytes(host.memory_max_total ?? DEFAULTS.memory_max_total, machine),
  };
}

/** What the groups told of a run that has ended; `total` is of all workers together. */
export type MemoryEnd = { worker: GroupMemory; total: GroupMemory | null };

/** The memory groups of the workers, as the dispatcher needs them. */
export type WorkerMemory = {
  /** How a worker enters a group of its own; null where it gets none. */
  entry(launch_id: string, agent: Pick<Agent, 'memory_max'>): GroupEntry | null;
  /** What the group of an ended run tells; null where it was in none. */
  readEnd(run_dir: string): MemoryEnd | null;
  /** Removes the group of an ended run; one that a process is still in is swept later. */
  release(run_dir: string): void;
  /** Removes what earlier daemons and runs left; groups of these starts stay. */
  sweep(keep: ReadonlySet<string>, now: number): void;
  /** Removes the group of all workers where none is left, when the daemon stops. */
  close(): void;
  /** What all workers may still use together, in bytes; null where nothing limits it. */
  headroom(): number | null;
  view(): WorkerMemoryView;
};

/** Holds workers to these limits, where there is a mechanism for it. */
export function createWorkerMemory(options: {
  mechanism: MemoryMechanism;
  limits: MemoryLimits;
  logger: Logger;
}): WorkerMemory {
  const { mechanism, limits, logger } = options;
  const limitOf = ({ memory_max }: Pick<Agent, 'memory_max'>) =>
    memory_max === undefined ? limits.worker : memoryBytes(memory_max, limits.machine);
  return {
    entry(launch_id, agent) {
      const limit = limitOf(agent);
      // Without a limit of its own a worker still counts towards that of all.
      return limit === null && limits.total === null ? null : groupEntry(mechanism, launch_id, limit);
    },
    readEnd(run_dir) {
      const folder = groupOf(run_dir);
      if (folder === null) {
        const said = textIn(run_dir, RUN_FILES.memory_error)?.trim();
        if (said)
          logger.warn({ run: basename(run_dir), detail: said }, 'a worker ran without a memory limit');
        return null;
      }
      // The folder of a scope is gone with its last process, which has left copies of what it told.
      const worker = readGroup(folder) ?? readGroupMemory((name) => textIn(run_dir, name));
      return worker === null ? null : { worker, total: readGroup(dirname(folder)) };
    },
    release(run_dir) {
      const folder = groupOf(run_dir);
      if (folder === null || !removeRunGroup(folder)) return;
      // Of an earlier daemon, which was in another group itself.
      const parent = dirname(folder);
      if (mechanism.kind === 'cgroup' && parent !== mechanism.parent) removeParentGroup(parent);
    },
    sweep(keep, now) {
      const removed = sweepGroups(mechanism, keep, now);
      if (removed > 0) logger.info({ removed }, 'removed the memory groups of old runs');
    },
    close() {
      if (mechanism.kind === 'cgroup') removeParentGroup(mechanism.parent);
    },
    headroom() {
      if (mechanism.kind !== 'cgroup' || limits.total === null) return null;
      const used = usedIn(mechanism.parent, mechanism.version);
      return used === null ? null : Math.max(0, limits.total - used);
    },
    view: () => ({
      mechanism: mechanism.kind === 'cgroup' ? `cgroup v${mechanism.version}` : mechanism.kind,
      detail: detailOf(mechanism),
      worker_bytes: limits.worker,
      total_bytes: limits.total,
    }),
  };
}

function detailOf(mechanism: MemoryMechanism): string {
  if (mechanism.kind === 'none') return mechanism.why;
  return mechanism.kind === 'systemd' ? mechanism.slice : mechanism.parent;
}

/** The group that the agent of a run entered; null where it entered none. The agent could have written this file. */
function groupOf(run_dir: string): string | null {
  const folder = textIn(run_dir, RUN_FILES.memory_group)?.trim() ?? '';
  return normalize(folder).startsWith('/sys/fs/cgroup/') ? normalize(folder) : null;
}

/** A file of a run directory; null where there is none that can be read. */
function textIn(run_dir: string, name: string): string | null {
  try {
    return readRegularTextSync(join(run_dir, name), READ_LIMITS.run_file);
  } catch {
    return null;
  }
}
