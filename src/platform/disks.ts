import { fileURLToPath } from 'node:url';
import type { Clock } from '../base/clock.ts';
import { createDeferred, type Deferred } from '../base/deferred.ts';
import { CheckSlots, type CheckTarget, type Place } from './check-slots.ts';
import { type Mount, mountOf, readMounts } from './disk-walk.cjs';
import { isForeign, staysHere } from './foreign-mounts.ts';
import { NEUTRAL_DIRECTORY, type PipedProcess, type spawnPiped } from './piped-process.ts';

/**
 * What is at a path; in `real` every symlink is resolved, and `tree` is the nearest folder at or above a directory that has a
 * `.git`, as far up as its mount goes. Times in milliseconds.
 */
export type PathCheck =
  | { kind: 'directory' | 'file' | 'other'; real: string; tree?: string }
  | { kind: 'missing' }
  | { kind: 'unreadable'; detail: string }
  /** The disk did not answer; `place` is the silent mount, or the silent path if only that one is. */
  | { kind: 'silent'; after_ms: number; place: string }
  /** The path was not checked, because other checks used every slot. This says nothing about the path. */
  | { kind: 'unchecked' };

/** Whether this process may access a path directly. */
export type Proof = 'answers' | 'silent' | 'unchecked';

/** Checks paths on any disk without ever blocking this process on one. */
export type Disks = {
  check(path: string): Promise<PathCheck>;
  /** The answer is cached for a second after the path was checked or read. */
  prove(path: string): Promise<Proof>;
  /** Records that this process has just accessed the path successfully. */
  answered(path: string): void;
  /** Records that an access of this process to the path timed out; its disk is checked before the next access. */
  unanswered(path: string): void;
  /** True if the path is known to be silent. Accesses no disk; silent places are checked again in the background. */
  isSilent(path: string): boolean;
  /** The mounts of other machines that answered their last check. Accesses no disk. */
  answering(): string[];
  /** The mount of a path, as far as its links were followed; `local`: no other machine is involved. */
  mountOf(path: string): { name: string; local: boolean };
  /** Whether the kernel reports every change at and below a path: only this machine can change the files there. */
  reportsChanges(path: string): boolean;
  /** Calls back when a silent place answers again; returns the function that unsubscribes. */
  onAnswer(listener: () => void): () => void;
  /** Kills the checking processes without waiting for their end. */
  stop(): void;
};

/**
 * Whether the disk of a path answers, for a thread that accesses it in the same step. One of this machine does unless it is
 * known to be silent; that of another machine may have gone a moment ago, so that it is checked each time.
 */
export async function answersNow(
  disks: Pick<Disks, 'check' | 'mountOf' | 'isSilent'>,
  path: string,
): Promise<Proof> {
  if (isLocal(disks, path)) return disks.isSilent(path) ? 'silent' : 'answers';
  const { kind } = await disks.check(path);
  return kind === 'silent' || kind === 'unchecked' ? kind : 'answers';
}

/** Whether a path, with each link on its way, leads to no disk of another machine. Accesses no such disk. */
export function isLocal(disks: Pick<Disks, 'mountOf'>, path: string): boolean {
  return disks.mountOf(path).local && staysHere(path);
}

/** What to say of a path whose disk did not answer, or was not asked in time. */
export function unansweredWords(path: string, proof: Exclude<Proof, 'answers'>): string {
  return proof === 'silent'
    ? `the disk of ${path} does not answer; try again when it is back`
    : `${path} could not be checked in time; try again in a moment`;
}

/** Timeout of one check, in milliseconds. */
const CHECK_TIMEOUT_MS = 5_000;
/**
 * Timeout for a process to begin a check, in milliseconds. It is separate so that an overloaded machine is not mistaken
 * for a silent disk.
 */
const BEGIN_TIMEOUT_MS = 10_000;
/** Grace before a check is given up, in milliseconds, to read an answer that arrived while this thread was busy. */
const READ_GRACE_MS = 100;
/** How long a check waits for a slot: longer than a check takes, so that it gets the result of the one before it. */
const SLOT_TIMEOUT_MS = 6_000;
/** How long an answer is cached, in milliseconds. */
const CACHE_MS = 1_000;
/** Maximum number of cached answers. */
const MOST_CACHED = 4_096;
/** Maximum number of checks that wait for a slot. */
const MOST_WAITING = 16_384;
/** How long the mount table is cached, in milliseconds. The checking process reads it each time. */
const MOUNTS_MS = 1_000;
/** Maximum number of mounts that the links of one path may cross. */
const MOST_HOPS = 40;

const CHILD = fileURLToPath(new URL('../platform/disk-child.cjs', import.meta.url));

type Job = {
  /** The path as requested. */
  path: string;
  at: CheckTarget;
  hops: number;
  probe: Place | null;
  answer: Deferred<PathCheck>;
  /** Stops waiting for a slot. */
  leave: () => void;
};

/** The last check of a path: when, the resolved path, and what did not answer. */
type CachedCheck = { when: number; at: CheckTarget; blamed: Place | null };

/** Messages of the checking process, one per line. */
type ChildMessage = { id: number } & (
  | { kind: 'begun' }
  | { kind: 'proven' }
  | { kind: 'elsewhere'; path: string }
  | Exclude<PathCheck, { kind: 'silent' | 'unchecked' }>
);

/** `createDisks` starts its processes at the first check; `stop` ends them. */
export function createDisks(options: { clock: Clock; runner: { spawnPiped: typeof spawnPiped } }): Disks {
  return new DiskChecks(options);
}

class DiskChecks implements Disks {
  readonly #clock: Clock;
  readonly #runner: { spawnPiped: typeof spawnPiped };
  readonly #slots = new CheckSlots();
  readonly #in_progress = new Map<string, Promise<PathCheck>>();
  /** By mount, first in first out. */
  readonly #waiting = new Map<string, Set<Job>>();
  #waiting_count = 0;
  readonly #children = new Set<Child>();
  readonly #cache = new Map<string, CachedCheck>();
  readonly #listeners = new Set<() => void>();
  #mounts: { read_at: number; table: Mount[] | null } | null = null;
  #cancelProbe: () => void = () => {};
  #stopped = false;

  constructor(options: { clock: Clock; runner: { spawnPiped: typeof spawnPiped } }) {
    this.#clock = options.clock;
    this.#runner = options.runner;
  }

  check(path: string): Promise<PathCheck> {
    const known = this.#in_progress.get(path);
    if (known !== undefined) return known;
    const check = this.#begin(path, this.#placeOf(path), null).finally(() => this.#in_progress.delete(path));
    this.#in_progress.set(path, check);
    return check;
  }

  async prove(path: string): Promise<Proof> {
    const known = this.#cache.get(path);
    const fresh = known !== undefined && this.#clock.monotonic() - known.when < CACHE_MS;
    if (fresh && !this.isSilent(path)) return 'answers';
    const { kind } = await this.check(path);
    return kind === 'silent' || kind === 'unchecked' ? kind : 'answers';
  }

  answered(path: string): void {
    const known = this.#cache.get(path);
    if (known !== undefined) known.when = this.#clock.monotonic();
  }

  unanswered(path: string): void {
    this.#cache.delete(path);
    void this.check(path);
  }

  isSilent(path: string): boolean {
    const now = this.#clock.monotonic();
    const { at = this.#placeOf(path), blamed = null } = this.#cache.get(path) ?? {};
    if (blamed !== null && this.#slots.isSilent(blamed, now)) return true;
    return this.#slots.silence(at, now) !== null;
  }

  mountOf(path: string): { name: string; local: boolean } {
    const { mount, local } = this.#cache.get(path)?.at ?? this.#placeOf(path);
    return { name: mount, local };
  }

  answering(): string[] {
    const foreign = this.#table()?.filter(({ type }) => isForeign(type)) ?? [];
    return foreign.map(({ point }) => point).filter((point) => this.#slots.answers(point));
  }

  reportsChanges(path: string): boolean {
    const at = this.#cache.get(path)?.at ?? this.#placeOf(path);
    const below = this.#table()?.filter(({ point }) => point.startsWith(`${at.path}/`));
    return at.local && below !== undefined && !below.some(({ type }) => isForeign(type));
  }

  onAnswer(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelProbe();
    for (const jobs of this.#waiting.values())
      for (const job of jobs) this.#settle(job, { kind: 'unchecked' });
    for (const child of [...this.#children]) child.stop();
  }

  #begin(path: string, at: CheckTarget, probe: Place | null): Promise<PathCheck> {
    const job: Job = { path, at, hops: 0, probe, answer: createDeferred(), leave: () => {} };
    this.#ask(job);
    return job.answer.promise;
  }

  #ask(job: Job): void {
    if (this.#stopped) this.#settle(job, { kind: 'unchecked' });
    else if (this.#try(job)) return;
    else if (this.#waiting_count >= MOST_WAITING) this.#settle(job, { kind: 'unchecked' });
    else this.#wait(job);
  }

  /** False if the check has to wait for a slot. */
  #try(job: Job): boolean {
    const slot = this.#slots.ask(job.at, this.#clock.monotonic(), job.probe !== null);
    if (slot.kind === 'silent') this.#settle(job, this.#silentAt(slot.place));
    if (slot.kind === 'run') this.#run(job);
    return slot.kind !== 'wait';
  }

  #wait(job: Job): void {
    const { mount } = job.at;
    const jobs = this.#waiting.get(mount) ?? new Set();
    this.#waiting.set(mount, jobs.add(job));
    this.#waiting_count += 1;
    const cancel = this.#clock.after(SLOT_TIMEOUT_MS, () => this.#settle(job, { kind: 'unchecked' }));
    job.leave = () => {
      cancel();
      job.leave = () => {};
      this.#waiting_count -= 1;
      jobs.delete(job);
      if (jobs.size === 0 && this.#waiting.get(mount) === jobs) this.#waiting.delete(mount);
    };
  }

  #run(job: Job): void {
    job.leave();
    const { at } = job;
    const slot = this.#slots.begin(at);
    const child = [...this.#children].find((one) => one.isFree) ?? this.#start();
    let proven = false;
    const giveUp = () => {
      const place = this.#slots.late(at, slot, proven, this.#clock.monotonic());
      this.#abandon(child, at, place);
      this.#settle(job, this.#silentAt(place));
      this.#pump();
    };
    let cancel = this.#clock.after(BEGIN_TIMEOUT_MS, () => child.stop());
    child.ask({ path: at.path, mount: at.mount }, (message) => {
      if (message?.kind === 'begun') {
        cancel();
        cancel = this.#clock.after(CHECK_TIMEOUT_MS, () => {
          cancel = this.#clock.after(READ_GRACE_MS, giveUp);
        });
        return;
      }
      if (message?.kind === 'proven') {
        proven = true;
        this.#slots.proven(at.mount, this.#clock.monotonic());
        return;
      }
      cancel();
      if (message === null) this.#slots.lost(at, slot);
      else this.#slots.end(at, slot, this.#clock.monotonic());
      if (message === null || (message.kind === 'elsewhere' && job.hops >= MOST_HOPS))
        this.#settle(job, message === null ? { kind: 'unchecked' } : { kind: 'unreadable', detail: 'ELOOP' });
      else if (message.kind === 'elsewhere') {
        // This check only probed a silent place and has its answer; it does not resolve the path.
        if (job.probe !== null) this.#settle(job, { kind: 'other', real: at.path });
        else {
          job.hops += 1;
          job.at = this.#placeOf(message.path);
          this.#ask(job);
        }
      } else {
        const { id: _id, ...result } = message;
        this.#settle(job, result);
      }
      this.#pump();
    });
  }

  #settle(job: Job, result: PathCheck): void {
    job.leave();
    const blamed = result.kind === 'silent' ? this.#slots.silence(job.at, this.#clock.monotonic()) : null;
    if (result.kind !== 'unchecked')
      this.#store(job.path, { when: this.#clock.monotonic(), at: job.at, blamed });
    if (job.probe !== null) {
      const now = this.#clock.monotonic();
      if (result.kind === 'unchecked') this.#slots.probeLost(job.probe, now);
      else if (!this.#slots.isSilent(job.probe, now)) this.#notify();
    }
    job.answer.resolve(result);
    this.#planProbe();
  }

  /**
   * Gives free slots to waiting checks, first in first out; answers those whose place has turned out silent meanwhile.
   */
  #pump(): void {
    for (const jobs of [...this.#waiting.values()]) {
      for (const job of jobs) if (!this.#try(job)) break;
    }
  }

  #start(): Child {
    const process = this.#runner.spawnPiped({
      file: globalThis.process.execPath,
      args: ['--max-old-space-size=32', CHILD],
      cwd: NEUTRAL_DIRECTORY,
    });
    const child: Child = new Child(process, () => this.#children.delete(child));
    this.#children.add(child);
    return child;
  }

  /** A process blocked on a disk cannot be waited for; it exits when the disk answers. */
  #abandon(child: Child, at: CheckTarget, place: Place): void {
    const since = this.#clock.monotonic();
    this.#children.delete(child);
    child.abandon(() => {
      const now = this.#clock.monotonic();
      this.#slots.freed(at, place, now - since, now);
      this.#planProbe();
      this.#pump();
    });
  }

  #planProbe(): void {
    this.#cancelProbe();
    const next = this.#stopped ? null : this.#slots.nextProbe();
    if (next === null) return;
    const wait = Math.max(0, next - this.#clock.monotonic());
    this.#cancelProbe = this.#clock.after(wait, () => {
      for (const { at, place } of this.#slots.probes(this.#clock.monotonic()))
        void this.#begin(at.path, at, place);
      this.#planProbe();
    });
  }

  #store(path: string, check: CachedCheck): void {
    this.#cache.delete(path);
    this.#cache.set(path, check);
    if (this.#cache.size <= MOST_CACHED) return;
    const [oldest] = this.#cache.keys();
    if (oldest !== undefined) this.#cache.delete(oldest);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  #silentAt(place: Place): PathCheck {
    return { kind: 'silent', after_ms: CHECK_TIMEOUT_MS, place: place.name };
  }

  #placeOf(path: string): CheckTarget {
    const { point, type } = mountOf(path, this.#table());
    return { path, mount: point, local: !isForeign(type) };
  }

  #table(): Mount[] | null {
    const now = this.#clock.monotonic();
    if (this.#mounts === null || now - this.#mounts.read_at >= MOUNTS_MS)
      this.#mounts = { read_at: now, table: readMounts() };
    return this.#mounts.table;
  }
}

/** One checking process. It handles one check at a time; the answer is null if the process ended first. */
class Child {
  readonly #process: PipedProcess;
  #asked: { id: number; listener: (message: ChildMessage | null) => void } | null = null;
  #onGone: () => void;
  #last_id = 0;
  #rest = '';

  constructor(process: PipedProcess, onGone: () => void) {
    this.#process = process;
    this.#onGone = onGone;
    process.onStdout((chunk) => this.#read(chunk));
    process.onExit(() => {
      this.#onGone();
      const asked = this.#asked;
      this.#asked = null;
      asked?.listener(null);
    });
  }

  get isFree(): boolean {
    return this.#asked === null;
  }

  ask(request: { path: string; mount: string }, listener: (message: ChildMessage | null) => void): void {
    this.#last_id += 1;
    this.#asked = { id: this.#last_id, listener };
    // A failed write means that the process has ended; its exit event handles that.
    this.#process.write(`${JSON.stringify({ id: this.#last_id, ...request })}\n`);
  }

  /** Kills the process; pending checks get no answer. */
  stop(): void {
    const asked = this.#asked;
    this.#onGone();
    this.abandon(() => {});
    asked?.listener(null);
  }

  abandon(onGone: () => void): void {
    this.#asked = null;
    this.#onGone = onGone;
    this.#process.kill();
  }

  #read(chunk: Uint8Array): void {
    const lines = (this.#rest + Buffer.from(chunk).toString('utf8')).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const message = JSON.parse(line) as ChildMessage;
      const asked = this.#asked;
      if (asked?.id !== message.id) continue;
      if (message.kind !== 'proven' && message.kind !== 'begun') this.#asked = null;
      asked.listener(message);
    }
  }
}
