import { readFileSync, statSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { groupsUpFrom } from './control-groups.ts';
import { readableFolderNames } from './folder-names.ts';
import { memoryHierarchy } from './memory-groups.ts';

/** Free resources for new processes: memory in bytes, the others as counts. Null: unknown. */
export type MachineResources = {
  memory: number | null;
  processes: number | null;
  descriptors: number | null;
  terminals: number | null;
};

export type ResourcesOptions = {
  platform: NodeJS.Platform;
  uid: number | null;
  /** The multiplexer server: each worker adds to its open files. */
  server_pid: number | null;
};

/** Memory of this machine or container, in bytes. */
export function machineMemory(): number {
  const bounded = process.constrainedMemory();
  return bounded > 0 && bounded < totalmem() ? bounded : totalmem();
}

/** Reads the free resources; on systems other than Linux everything is null. */
export function readMachineResources(options: ResourcesOptions): MachineResources {
  if (options.platform !== 'linux')
    return { memory: null, processes: null, descriptors: null, terminals: null };
  return {
    memory: least([availableMemory(textOf('/proc/meminfo') ?? ''), memoryOfGroups()]),
    processes: freeProcesses(options.uid),
    descriptors: least([systemFiles(), filesOf('self'), filesOf(options.server_pid)]),
    terminals: difference('/proc/sys/kernel/pty/max', '/proc/sys/kernel/pty/nr'),
  };
}

/** `MemAvailable` of `/proc/meminfo`, in bytes. */
function availableMemory(meminfo: string): number | null {
  const kib = /^MemAvailable:\s+(\d+) kB$/m.exec(meminfo)?.[1];
  return kib === undefined ? null : Number(kib) * 1024;
}

/** Memory left under the limits of our group and its ancestors, in bytes; reclaimable caches count as free. */
function memoryOfGroups(): number | null {
  const hierarchy = memoryHierarchy();
  if (hierarchy === null) return null;
  const [limit_name, usage_name] =
    hierarchy.version === 2
      ? ['memory.max', 'memory.current']
      : ['memory.limit_in_bytes', 'memory.usage_in_bytes'];
  return least(
    groupsUpFrom(hierarchy.own).map((group) => {
      const folder = join(hierarchy.mount, group);
      const limit = numberOf(join(folder, limit_name));
      const usage = numberOf(join(folder, usage_name));
      if (limit === null || usage === null || limit > 2 ** 60) return null;
      const cached = /^(?:total_)?inactive_file (\d+)$/m.exec(textOf(join(folder, 'memory.stat')) ?? '')?.[1];
      return Math.max(0, limit - usage + Number(cached ?? 0));
    }),
  );
}

/** For all of these limits threads count as processes. */
function freeProcesses(uid: number | null): number | null {
  const all = Number(/^\S+ \S+ \S+ \d+\/(\d+)/.exec(textOf('/proc/loadavg') ?? '')?.[1] ?? Number.NaN);
  const most = least([numberOf('/proc/sys/kernel/threads-max'), numberOf('/proc/sys/kernel/pid_max')]);
  const system = most === null || Number.isNaN(all) ? null : Math.max(0, most - all);
  return least([system, processesOfGroups(), processesOfUser(uid)]);
}

/** Processes left under the `pids` limits of our group and its ancestors. */
function processesOfGroups(): number | null {
  const groups = (textOf('/proc/self/cgroup') ?? '')
    .split('\n')
    .map((line) => /^\d+:([^:]*):(.*)$/.exec(line));
  const own =
    groups.find((group) => group?.[1]?.split(',').includes('pids')) ??
    groups.find((group) => group?.[1] === '');
  if (own?.[2] === undefined) return null;
  const mount = own[1] === '' ? '/sys/fs/cgroup' : '/sys/fs/cgroup/pids';
  return least(
    groupsUpFrom(own[2]).map((group) =>
      difference(join(mount, group, 'pids.max'), join(mount, group, 'pids.current')),
    ),
  );
}

/** Processes left under the limit of the user, which does not apply to root. */
function processesOfUser(uid: number | null): number | null {
  const most = limitIn('self', 'Max processes');
  if (uid === null || uid === 0 || most === null) return null;
  let used = 0;
  for (const name of readableFolderNames('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const tasks = statSync(`/proc/${name}/task`);
      if (tasks.uid === uid) used += tasks.nlink - 2;
    } catch {
      // The process has ended meanwhile.
    }
  }
  return Math.max(0, most - used);
}

function systemFiles(): number | null {
  const [used, , most] = (textOf('/proc/sys/fs/file-nr') ?? '').split(/\s+/).map(Number);
  return used === undefined || most === undefined ? null : Math.max(0, most - used);
}

function filesOf(pid: number | 'self' | null): number | null {
  if (pid === null) return null;
  const most = limitIn(pid, 'Max open files');
  const open = readableFolderNames(`/proc/${pid}/fd`).length;
  return most === null || open === 0 ? null : Math.max(0, most - open);
}

/** The soft limit of this name in `/proc/<pid>/limits`; null where there is none. */
function limitIn(pid: number | 'self', name: string): number | null {
  const soft = new RegExp(`^${name}\\s+(\\d+)\\s`, 'm').exec(textOf(`/proc/${pid}/limits`) ?? '')?.[1];
  return soft === undefined ? null : Number(soft);
}

function difference(most_path: string, used_path: string): number | null {
  const [most, used] = [numberOf(most_path), numberOf(used_path)];
  return most === null || used === null ? null : Math.max(0, most - used);
}

function least(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((number) => number !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function numberOf(path: string): number | null {
  const text = textOf(path)?.trim() ?? '';
  return /^\d+$/.test(text) ? Number(text) : null;
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
