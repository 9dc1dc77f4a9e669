import { randomBytes } from 'node:crypto';
import {
  closeSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CodedError, isCoded, systemCode } from '../base/errors.ts';
import { removeQuietly } from './atomic-write.ts';
import { withPath } from './file-error.ts';
import { READ_LIMITS } from './read-limits.ts';
import { readRegularTextSync } from './regular-file.ts';

/** Who holds a lock; the JSON content of a lock file. `null` where the system does not report it. */
export type LockHolder = {
  host: string;
  pid: number;
  /** Kernel start time of the process, so that a reused pid is not mistaken for the holder. */
  start_time: string | null;
  boot_id: string | null;
  /** Process id namespace; a pid of another namespace is meaningless here. */
  pid_ns: string | null;
  nonce: string;
  owner?: LockOwner;
  about?: LockAbout;
};
/** A note about the holder for whoever waits for the lock. */
export type LockAbout = {
  data_dir: string;
  /** ISO 8601. */
  since: string;
};
/**
 * A part of a process that is restarted on its own, such as a supervised thread. A lock of an earlier generation of the
 * same owner in the same process is stale: the earlier generation always ends before the later one begins.
 */
export type LockOwner = { name: string; generation: number };

export type LockOptions = {
  /** Milliseconds to wait for another holder before `locked`. Default 5,000. */
  timeoutMs?: number;
  owner?: LockOwner;
};
export type FileLock = {
  release(): void;
  /** False if the file was removed or belongs to another holder now. */
  isHeld(): boolean;
};

const DEFAULT_TIMEOUT_MS = 5_000;
const FIRST_WAIT_MS = 2;
const LONGEST_WAIT_MS = 40;
/**
 * Breaking a stale lock takes a lock of its own, which may be stale too. Beyond this depth another process is breaking
 * it.
 */
const MAX_BREAK_DEPTH = 3;

/**
 * Takes the lock file `path` (its folder must exist). A lock is never taken from a live holder, however long it is
 * held. It is stale only if its process is certainly gone or if it belongs to an earlier generation of the same owner.
 * A holder on another host is never judged. Throws `locked` after the timeout, and the system error if the folder is
 * not writable.
 */
export async function acquireFileLock(path: string, options: LockOptions = {}): Promise<FileLock> {
  const limit = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const started = performance.now();
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, wait * 2)) {
    const lock = tryFileLock(path, options.owner);
    if (lock !== null) return lock;
    if (performance.now() - started >= limit) throw lockedError(path, limit);
    await delay(wait * (0.5 + Math.random() * 0.5));
  }
}

/** Takes the lock file if it is free or stale, else returns `null` at once. */
export function tryFileLock(path: string, owner?: LockOwner, about?: LockAbout): FileLock | null {
  return tryAtDepth(path, { owner, about }, 0);
}

/** Who holds the lock file now; null if it is free or its content is unreadable. */
export function lockHolder(path: string): LockHolder | null {
  const holder = readHolder(path);
  return typeof holder === 'object' ? holder : null;
}

/** Removes files that crashed processes left while taking or breaking the lock `path`. Files of live processes stay. */
export function removeLeftLockFiles(path: string): void {
  const folder = dirname(path);
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(prefix) || !isLockName(name)) continue;
    const holder = readHolder(join(folder, name));
    // A draft without its holder was cut short by a crash. If its writer is alive after all, it makes another one.
    const left = typeof holder === 'object' ? isStale(holder, undefined) : isDraftName(name);
    if (left) rmSync(join(folder, name), { force: true });
  }
}

/** True for the name of a lock file, or of a leftover of taking or breaking one. */
export function isLockName(name: string): boolean {
  return name.startsWith('.') && /\.lock(?:\.break)*(?:\.new-[0-9a-f]+)?$/.test(name);
}

function isDraftName(name: string): boolean {
  return /\.new-[0-9a-f]+$/.test(name);
}

/**
 * Kernel start time of a process (`/proc/<pid>/stat` field 22), or null if it is gone, is a zombie, or the system has
 * no `/proc`.
 */
export function readProcessStart(pid: number): string | null {
  const stat = readProcessStat(pid);
  return stat === null || stat.state === 'Z' || stat.state === 'X' ? null : stat.startTime;
}

function tryAtDepth(
  path: string,
  who: { owner: LockOwner | undefined; about: LockAbout | undefined },
  depth: number,
): FileLock | null {
  const { owner, about } = who;
  const holder: LockHolder = {
    ...thisProcess(),
    nonce: randomBytes(12).toString('hex'),
    ...(owner === undefined ? {} : { owner }),
    ...(about === undefined ? {} : { about }),
  };
  for (let round = 0; round < 3; round += 1) {
    if (createWhole(path, JSON.stringify(holder), holder.nonce)) {
      return {
        release: () => releaseLock(path, holder.nonce),
        isHeld: () => lockHolder(path)?.nonce === holder.nonce,
      };
    }
    const current = readHolder(path);
    if (current === 'absent') continue;
    if (current === 'unreadable' || !isStale(current, owner) || depth >= MAX_BREAK_DEPTH) return null;
    const breaker = tryAtDepth(`${path}.break`, who, depth + 1);
    if (breaker === null) return null;
    try {
      const again = readHolder(path);
      if (typeof again === 'object' && again.nonce === current.nonce) rmSync(path, { force: true });
    } finally {
      breaker.release();
    }
  }
  return null;
}

/** Creates a file with its whole content in one step; false when it exists. */
function createWhole(path: string, content: string, nonce: string, retries = 3): boolean {
  const draft = `${path}.new-${nonce}`;
  writeNew(draft, content);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST') return false;
    if (code === 'ENOENT' && retries > 0) return createWhole(path, content, nonce, retries - 1);
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP' && code !== 'ENOSYS') throw error;
    return createExclusively(path, content); // a file system without hard links
  } finally {
    removeQuietly(draft);
  }
}

function createExclusively(path: string, content: string): boolean {
  try {
    writeNew(path, content);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function writeNew(path: string, content: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    const bytes = Buffer.from(content);
    for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
  } catch (error) {
    // On a full disk: a file without its holder would be a lock that nobody can break.
    removeQuietly(path);
    throw withPath(error, path);
  } finally {
    closeSync(file);
  }
}

/** Locks of this process that were released but whose file could not be removed. */
const unreleased = new Set<string>();

/** Never throws a system error: the work under the lock is done, and an error would make the caller report it as failed. */
function releaseLock(path: string, nonce: string): void {
  try {
    const holder = readHolder(path);
    if (typeof holder === 'object' && holder.nonce === nonce) unlinkSync(path);
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    if (code !== 'ENOENT') unreleased.add(nonce);
  }
}

function readHolder(path: string): LockHolder | 'absent' | 'unreadable' {
  let text: string;
  try {
    text = readRegularTextSync(path, READ_LIMITS.short_file, { follow: false });
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 'absent';
    if (isCoded(error)) return 'unreadable';
    throw error;
  }
  try {
    const value = JSON.parse(text) as Partial<LockHolder> | null;
    return typeof value?.pid === 'number' && typeof value.host === 'string' && typeof value.nonce === 'string'
      ? (value as LockHolder)
      : 'unreadable';
  } catch {
    return 'unreadable';
  }
}

function isStale(holder: LockHolder, owner: LockOwner | undefined): boolean {
  const self = thisProcess();
  if (holder.host !== self.host) return false;
  if (holder.boot_id !== null && self.boot_id !== null && holder.boot_id !== self.boot_id) return true;
  if (holder.pid_ns !== self.pid_ns) return false;
  if (!processLives(holder.pid, holder.start_time)) return true;
  if (unreleased.has(holder.nonce)) return true;
  return (
    holder.pid === self.pid &&
    owner !== undefined &&
    holder.owner?.name === owner.name &&
    holder.owner.generation < owner.generation
  );
}

/** False only if the process is certainly gone, is a zombie, or its pid was reused. */
function processLives(pid: number, startTime: string | null): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return false;
  }
  const stat = readProcessStat(pid);
  if (stat === null) return true;
  return stat.state !== 'Z' && stat.state !== 'X' && (startTime === null || stat.startTime === startTime);
}

function readProcessStat(pid: number): { state: string; startTime: string } | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The name in parentheses may hold spaces and parentheses itself; fields are counted after its end.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  const startTime = fields[19];
  return state === undefined || startTime === undefined ? null : { state, startTime };
}

let self: Omit<LockHolder, 'nonce' | 'owner'> | undefined;

function thisProcess(): Omit<LockHolder, 'nonce' | 'owner'> {
  self ??= {
    host: hostname(),
    pid: process.pid,
    start_time: readProcessStart(process.pid),
    boot_id: readOptional(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    pid_ns: readOptional(() => readlinkSync('/proc/self/ns/pid')),
  };
  return self;
}

function readOptional(read: () => string): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}

function lockedError(path: string, limit: number): CodedError {
  const holder = readHolder(path);
  const who = typeof holder === 'object' ? `process ${holder.pid} on ${holder.host}` : 'an unknown process';
  return new CodedError(
    'locked',
    `the lock ${path} was held by ${who} for ${limit} ms; try again, or remove the file if no process holds it`,
    { details: { lock: path } },
  );
}
