import { mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { sha256Of } from '../base/digest.ts';
import { messageOf, systemCode } from '../base/errors.ts';
import { findMemoryHierarchy, groupsUpFrom, type MemoryHierarchy } from './control-groups.ts';
import { failureWords } from './failure-words.ts';
import { findExecutable } from './find-executable.ts';
import { readableFolderNames } from './folder-names.ts';
import type { ProcessRunner } from './process.ts';

/** The mechanism that enforces the memory limits of workers; `none` gives the reason why there is none. */
export type MemoryMechanism =
  | {
      kind: 'systemd';
      /** argv of `systemd-run` up to the options of one scope. */
      run: string[];
      slice: string;
      /** Scopes support `OOMPolicy` since systemd 253; before, a kill never stops a scope. */
      oom_policy: boolean;
    }
  | { kind: 'cgroup'; version: 1 | 2; parent: string }
  | { kind: 'none'; why: string };

/** How a process enters its own group before it executes the agent. */
export type GroupEntry =
  /** Makes the folder, writes the files in order, then writes its own pid into `cgroup.procs`. */
  | { kind: 'cgroup'; folder: string; files: [name: string, text: string][] }
  /** Runs the rest of the command line in a new scope. */
  | { kind: 'systemd'; argv: string[] };

export type GroupsOptions = {
  /** Distinguishes the groups of this data dir from those of another. */
  data_dir: string;
  /** Total limit of all workers, in bytes; null for none. */
  total_bytes: number | null;
  platform: NodeJS.Platform;
  uid: number | null;
  env: NodeJS.ProcessEnv;
  runner: ProcessRunner;
};

const ELSEWHERE = 'this system has no memory groups for processes';
const SYSTEMD_MS = 3_000;
/** Grace, in milliseconds, during which the group of a new start may be empty. */
const YOUNG_MS = 60_000;

/** Finds the mechanism that works here and sets the total limit of all workers; never throws. */
export async function openMemoryGroups(options: GroupsOptions): Promise<MemoryMechanism> {
  if (options.platform !== 'linux') return { kind: 'none', why: ELSEWHERE };
  const hierarchy = memoryHierarchy();
  if (hierarchy === null) return { kind: 'none', why: 'the kernel has no memory control groups mounted' };
  const systemd = hierarchy.version === 2 ? await openSlice(options) : null;
  return systemd ?? openFolder(hierarchy, options);
}

/** The memory hierarchy of this process; null where there is none. */
export function memoryHierarchy(): MemoryHierarchy | null {
  const read = (path: string) => readText(path) ?? '';
  return findMemoryHierarchy(read('/proc/self/cgroup'), read('/proc/self/mountinfo'), (mount) =>
    read(join(mount, 'cgroup.controllers')),
  );
}

/** A slice of the service manager: the user's, or the system's for root. */
async function openSlice(options: GroupsOptions): Promise<MemoryMechanism | null> {
  const { env, uid, runner, total_bytes } = options;
  const systemctl = await findExecutable('systemctl', env.PATH ?? '');
  const systemdRun = await findExecutable('systemd-run', env.PATH ?? '');
  if (systemctl === null || systemdRun === null) return null;
  const whose = uid === 0 ? [] : ['--user'];
  const ask = (args: string[]) =>
    runner.run({
      file: systemctl,
      args: [...whose, ...args],
      env,
      timeout_ms: SYSTEMD_MS,
      max_output_bytes: 64 * 1024,
    });
  const version = await ask(['show', '--property=Version', '--value']);
  if (version.kind !== 'exited' || version.code !== 0) return null;
  const slice = `${nameOf(options.data_dir)}.slice`;
  const limit = await ask(['set-property', '--runtime', slice, `MemoryMax=${total_bytes ?? 'infinity'}`]);
  if (limit.kind !== 'exited' || limit.code !== 0) return null;
  // Sessions in tmux lack `XDG_RUNTIME_DIR`, by which the user's manager is found.
  const where =
    env.XDG_RUNTIME_DIR === undefined || uid === 0 ? [] : ['env', `XDG_RUNTIME_DIR=${env.XDG_RUNTIME_DIR}`];
  return {
    kind: 'systemd',
    run: [...where, systemdRun, ...whose],
    slice,
    oom_policy: Number.parseInt(/\d+/.exec(version.stdout)?.[0] ?? '0', 10) >= 253,
  };
}

/** The nearest group, our own or an ancestor, in which groups can be made and entered. */
async function openFolder(hierarchy: MemoryHierarchy, options: GroupsOptions): Promise<MemoryMechanism> {
  const { version, mount } = hierarchy;
  let why = '';
  for (const above of groupsUpFrom(hierarchy.own)) {
    const parent = join(mount, above, nameOf(options.data_dir));
    try {
      if (version === 2) giveMemoryTo(dirname(parent));
      makeGroup(parent);
      if (version === 2) giveMemoryTo(parent);
      const limit = options.total_bytes === null ? NO_LIMIT[version] : String(options.total_bytes);
      writeFileSync(join(parent, LIMIT_FILE[version]), limit);
      await probe(parent, options.runner);
      return { kind: 'cgroup', version, parent };
    } catch (error) {
      why ||= messageOf(error);
      removeGroup(parent);
    }
  }
  return { kind: 'none', why: `no memory group can be made here (${why})` };
}

const LIMIT_FILE = { 1: 'memory.limit_in_bytes', 2: 'memory.max' } as const;
const NO_LIMIT = { 1: '-1', 2: 'max' } as const;

/** In version 2 a group enables controllers for its children only if configured to. */
function giveMemoryTo(folder: string): void {
  const file = join(folder, 'cgroup.subtree_control');
  if (!readFileSync(file, 'utf8').split(/\s+/).includes('memory')) writeFileSync(file, '+memory');
}

/** Whether a process can enter a group below; permission to make one does not imply it. */
async function probe(parent: string, runner: ProcessRunner): Promise<void> {
  const folder = join(parent, `probe-${process.pid}`);
  makeGroup(folder);
  try {
    const entered = await runner.run({
      file: '/bin/sh',
      args: ['-c', 'printf 0 >"$1"', 'sh', join(folder, 'cgroup.procs')],
      timeout_ms: SYSTEMD_MS,
      max_output_bytes: 4_096,
    });
    if (entered.kind !== 'exited' || entered.code !== 0) throw new Error(failureWords(entered));
  } finally {
    removeGroup(folder);
  }
}

/** How a worker enters its own group with this limit; null without a mechanism. */
export function groupEntry(
  mechanism: MemoryMechanism,
  launch_id: string,
  limit_bytes: number | null,
): GroupEntry | null {
  if (mechanism.kind === 'none') return null;
  if (mechanism.kind === 'systemd') {
    const { run, slice, oom_policy } = mechanism;
    const limit = limit_bytes ?? 'infinity';
    const argv = [...run, '--scope', '--quiet', '--collect', `--unit=svc-run-${launch_id.toLowerCase()}`];
    argv.push(`--slice=${slice}`, '-p', `MemoryMax=${limit}`, '-p', `MemorySwapMax=${limit}`);
    if (oom_policy) argv.push('-p', 'OOMPolicy=continue');
    return { kind: 'systemd', argv: [...argv, '--'] };
  }
  const { version, parent } = mechanism;
  const files: [string, string][] =
    limit_bytes === null ? [] : [[LIMIT_FILE[version], String(limit_bytes)], swapLimit(version, limit_bytes)];
  return { kind: 'cgroup', folder: join(parent, `${RUN_PREFIX}${launch_id}`), files };
}

const RUN_PREFIX = 'run-';
const PARENT_PREFIX = 'svc-workers-';

/** As much swap as memory, so that one worker cannot use up all of it; version 1 counts both together. */
function swapLimit(version: 1 | 2, limit_bytes: number): [string, string] {
  return version === 1
    ? ['memory.memsw.limit_in_bytes', String(2 * limit_bytes)]
    : ['memory.swap.max', String(limit_bytes)];
}

/** Removes the group of one run; false while a process is still in it, or if it is not a group of a run. */
export function removeRunGroup(folder: string): boolean {
  return basename(folder).startsWith(RUN_PREFIX) && removeGroup(folder);
}

/** Removes the parent group of an earlier daemon's runs once the last run is gone. */
export function removeParentGroup(folder: string): void {
  if (basename(folder).startsWith(PARENT_PREFIX)) removeGroup(folder);
}

function removeGroup(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return systemCode(error) === 'ENOENT';
  }
}

/** Removes leftover groups of ended runs, except those in `keep`. */
export function sweepGroups(mechanism: MemoryMechanism, keep: ReadonlySet<string>, now: number): number {
  if (mechanism.kind !== 'cgroup') return 0;
  let removed = 0;
  for (const name of readableFolderNames(mechanism.parent)) {
    if (!name.startsWith(RUN_PREFIX) || keep.has(name.slice(RUN_PREFIX.length))) continue;
    const folder = join(mechanism.parent, name);
    // The kernel refuses to remove a group with processes in it.
    if (now - changedAt(folder) > YOUNG_MS && removeGroup(folder)) removed += 1;
  }
  return removed;
}

function makeGroup(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}

function nameOf(data_dir: string): string {
  return `${PARENT_PREFIX}${sha256Of(data_dir).slice(0, 8)}`;
}

function changedAt(folder: string): number {
  try {
    return statSync(folder).mtimeMs;
  } catch {
    return 0;
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
