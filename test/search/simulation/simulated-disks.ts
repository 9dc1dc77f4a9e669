import { AsyncLocalStorage } from 'node:async_hooks';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import type { Clock } from '../../../src/base/clock.ts';
import type { Seeded } from '../../faults/seeded.ts';

/** What is wrong with a disk. */
export type DiskFault = 'full' | 'failing' | 'read_only';

/** Thrown in a daemon that is made to crash, and by everything that a crashed daemon still tries. */
export class Crash extends Error {}

/** A process of the simulation, as far as the disks know it. */
export type DiskUser = {
  /** By which lock files name it. */
  readonly pid: number;
  is_dead: boolean;
  /** Crashes at its n-th change of a disk from now; null for not at all. */
  crash_in: number | null;
  readonly clock: Clock;
  readonly random: Seeded;
  /** Called before its next new file is written, once: somebody else is faster. */
  interrupt: (() => void) | null;
  die(): void;
};

type Sync = (...args: unknown[]) => unknown;

/** Calls of `node:fs` that take a path or an open file first; `true` for those that change the disk. */
const CALLS: Record<string, boolean> = {
  readFileSync: false,
  opendirSync: false,
  readdirSync: false,
  statSync: false,
  lstatSync: false,
  realpathSync: false,
  readlinkSync: false,
  existsSync: false,
  mkdirSync: true,
  rmSync: true,
  rmdirSync: true,
  unlinkSync: true,
  renameSync: true,
  linkSync: true,
  writeFileSync: true,
  appendFileSync: true,
  chmodSync: true,
  utimesSync: true,
  fstatSync: false,
  readSync: false,
  fsyncSync: false,
  writeSync: true,
  fchmodSync: true,
};
/** What a full disk refuses; it still lets go of what it holds. */
const TAKES_SPACE = new Set(['writeSync', 'writeFileSync', 'appendFileSync', 'mkdirSync', 'linkSync']);

/**
 * The real file system below one folder, seen through disks that can fail and by processes that can crash. While
 * installed, calls of `node:fs` made `inside` a process go through here; all others are untouched.
 */
export class SimulatedDisks {
  /** By the path of the folder that is its mount point. */
  readonly faults = new Map<string, DiskFault>();
  /** Told of each file that a process put in place of another. */
  onRename: (path: string) => void = () => {};
  readonly #users = new AsyncLocalStorage<DiskUser>();
  readonly #files = new Map<number, string>();
  /** Every process so far, by its pid. */
  readonly #processes = new Map<number, DiskUser>();
  readonly #originals = new Map<string, Sync>();

  /** A pid that no process of this machine has. */
  nextPid(): number {
    return FIRST_PID + this.#processes.size;
  }

  inside<T>(user: DiskUser, run: () => T): T {
    this.#processes.set(user.pid, user);
    return this.#users.run(user, run);
  }

  outside<T>(run: () => T): T {
    return this.#users.exit(run);
  }

  /** Until this is undone, processes of the simulation see its disks and its time. */
  install(): () => void {
    const module = fs as unknown as Record<string, Sync>;
    const replace = (name: string, make: (original: Sync) => Sync) => {
      const original = module[name] as Sync;
      this.#originals.set(name, original);
      // `readdirSync` and others are overloaded, and some carry functions of their own.
      module[name] = Object.assign(make(original), original);
    };
    for (const [name, changes] of Object.entries(CALLS))
      replace(
        name,
        (original) =>
          (...args) =>
            this.#call(name, original, args, changes),
      );
    replace('openSync', (original) => (...args) => {
      const file = this.#call('openSync', original, args, isForWriting(args[1])) as number;
      if (this.#users.getStore() !== undefined) this.#files.set(file, String(args[0]));
      return file;
    });
    replace('closeSync', (original) => (...args) => {
      this.#files.delete(args[0] as number);
      return original(...args);
    });
    const delay = timers.setTimeout;
    const ownNow = performance.now.bind(performance);
    const ownRandom = Math.random;
    Object.assign(timers, {
      setTimeout: (ms: number, ...rest: []) => {
        const user = this.#users.getStore();
        if (user === undefined) return delay(ms, ...rest);
        return new Promise<void>((resolve) => {
          user.clock.after(ms, resolve);
        });
      },
    });
    Object.assign(performance, { now: () => this.#users.getStore()?.clock.now() ?? ownNow() });
    const ownKill = process.kill;
    process.kill = (pid, signal) => {
      const asked = this.#users.getStore() === undefined ? undefined : this.#processes.get(pid);
      if (asked === undefined) return ownKill(pid, signal);
      if (asked.is_dead) throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH', syscall: 'kill' });
      return true;
    };
    Math.random = () => {
      const user = this.#users.getStore();
      return user === undefined ? ownRandom() : user.random.whole(0, 999_999) / 1_000_000;
    };
    syncBuiltinESMExports();
    return () => {
      for (const [name, original] of this.#originals) module[name] = original;
      Object.assign(timers, { setTimeout: delay });
      Reflect.deleteProperty(performance, 'now');
      Math.random = ownRandom;
      process.kill = ownKill;
      syncBuiltinESMExports();
    };
  }

  #original(name: string): Sync {
    return this.#originals.get(name) ?? ((fs as unknown as Record<string, Sync>)[name] as Sync);
  }

  #call(name: string, original: Sync, args: unknown[], changes: boolean): unknown {
    const user = this.#users.getStore();
    if (user === undefined) return original(...args);
    const [first] = args;
    const path = typeof first === 'number' ? (this.#files.get(first) ?? '') : String(first);
    if (user.is_dead) throw new Crash(`${name} by a daemon that is gone`);
    const fault = this.#faultOf(path);
    // What is there already is told first, whatever the state of the disk.
    const is_there =
      name === 'mkdirSync' && fault !== 'failing' && this.#original('existsSync')(path) === true;
    if (fault !== null && !is_there && refuses(fault, name, changes)) {
      if (name === 'existsSync') return false;
      throw systemError(fault, name, path);
    }
    if (!changes) return original(...args);
    if (name === 'openSync' && user.interrupt !== null) {
      const { interrupt } = user;
      user.interrupt = null;
      this.outside(interrupt);
    }
    if (user.crash_in !== null) {
      user.crash_in -= 1;
      if (user.crash_in <= 0) this.#crash(user, name, original, args);
    }
    if (name === 'writeSync' && isLock(path)) return writeLock(user, original, args);
    const result = original(...args);
    if (name === 'renameSync') this.outside(() => this.onRename(String(args[1])));
    return result;
  }

  /** A process that is killed in the middle of a write has written some of it. */
  #crash(user: DiskUser, name: string, original: Sync, args: unknown[]): never {
    user.crash_in = null;
    const [file, bytes, from = 0] = args;
    if (name === 'writeSync' && bytes instanceof Uint8Array && typeof from === 'number')
      original(file, bytes.subarray(0, from + ((bytes.length - from) >> 1)), from);
    user.die();
    throw new Crash(name);
  }

  #faultOf(path: string): DiskFault | null {
    for (const [mount, fault] of this.faults)
      if (path.startsWith(`${mount}/`) || path === mount) return fault;
    return null;
  }
}

/** Above every process id that a system gives. */
const FIRST_PID = 2 ** 22 + 1;

function isLock(path: string): boolean {
  return /\.lock(?:\.|$)/.test(path);
}

/** All daemons live in one process; in the lock files each has a pid of its own. */
function writeLock(user: DiskUser, original: Sync, [file, bytes, from = 0]: unknown[]): unknown {
  const text = Buffer.from(bytes as Uint8Array)
    .subarray(from as number)
    .toString();
  original(file, Buffer.from(text.replace(`"pid":${process.pid},`, `"pid":${user.pid},`)));
  return Buffer.byteLength(text);
}

function isForWriting(flags: unknown): boolean {
  const bits = fs.constants.O_WRONLY | fs.constants.O_RDWR | fs.constants.O_CREAT;
  return typeof flags === 'number' ? (flags & bits) !== 0 : typeof flags === 'string' && /[wax+]/.test(flags);
}

function refuses(fault: DiskFault, name: string, changes: boolean): boolean {
  if (fault === 'failing') return true;
  return fault === 'full' ? TAKES_SPACE.has(name) : changes;
}

function systemError(fault: DiskFault, call: string, path: string): Error {
  const [code, errno, text] = (
    {
      full: ['ENOSPC', -28, 'no space left on device'],
      failing: ['EIO', -5, 'i/o error'],
      read_only: ['EROFS', -30, 'read-only file system'],
    } as const
  )[fault];
  const syscall = call.replace('Sync', '');
  return Object.assign(new Error(`${code}: ${text}, ${syscall} '${path}'`), { code, errno, syscall, path });
}
