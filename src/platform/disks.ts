import { fileURLToPath } from 'node:url';
import type { Clock } from '../base/clock.ts';
import { createDeferred, type Deferred } from '../base/deferred.ts';
import { type Mount, mountOf, readMounts } from './disk-walk.cjs';
import { type LookAt, LookTurns, type Place } from './look-turns.ts';
import { NEUTRAL_DIRECTORY, type PipedProcess, type ProcessRunner } from './process.ts';

/** What is at a path; in `real` every symlink is resolved. Times in milliseconds. */
export type PathLook =
  | { kind: 'directory' | 'file' | 'other'; real: string }
  | { kind: 'missing' }
  | { kind: 'unreadable'; detail: string }
  /** The disk did not answer; `place` is the silent mount, or the silent path if only that one is. */
  | { kind: 'silent'; after_ms: number; place: string }
  /** The path was not checked, because other checks used every slot. This says nothing about the path. */
  | { kind: 'unlooked' };

/** Whether this process may access a path directly. */
export type Proof = 'answers' | 'silent' | 'unlooked';

/** Checks paths on any disk (in this code: a look) without ever blocking this process on one. */
export type Disks = {
  look(path: string): Promise<PathLook>;
  /** The answer is cached for a second after the path was checked or read. */
  prove(path: string): Promise<Proof>;
  /** Records that this process has just accessed the path successfully. */
  answered(path: string): void;
  /** Records that an access of this process to the path timed out; its disk is checked before the next access. */
  unanswered(path: string): void;
  /** True if the path is known to be silent. Accesses no disk; silent places are checked again in the background. */
  isSilent(path: string): boolean;
  /** The mount of a path, as far as its links were followed; `local`: no other machine is involved. */
  mountOf(path: string): { name: string; local: boolean };
  /** Calls back when a silent place answers again; returns the function that unsubscribes. */
  onAnswer(hear: () => void): () => void;
  /** Kills the checking processes without waiting for their end. */
  stop(): void;
};

/** Timeout of one check, in milliseconds. */
const LOOK_DEADLINE_MS = 5_000;
/**
 * Timeout for a process to begin a check, in milliseconds. It is separate so that an overloaded machine is not mistaken
 * for a silent disk.
 */
const BEGIN_DEADLINE_MS = 10_000;
/** Grace before a check is given up, in milliseconds, to read an answer that arrived while this thread was busy. */
const READ_GRACE_MS = 100;
/** How long a check waits for a slot: longer than a check takes, so that it gets the result of the one before it. */
const TURN_DEADLINE_MS = 6_000;
/** How long an answer is cached, in milliseconds. */
const FRESH_MS = 1_000;
/** Maximum number of cached answers. */
const MOST_REMEMBERED = 4_096;
/** Maximum number of checks that wait for a slot. */
const MOST_WAITING = 16_384;
/** How long the mount table is cached, in milliseconds. The checking process reads it each time. */
const MOUNTS_MS = 1_000;
/** Maximum number of mounts that the links of one path may cross. */
const MOST_HOPS = 40;
/** File systems that depend on another machine or program for every operation. */
const REMOTE_TYPE =
  /^(nfs|cifs|smb|fuse|9p|ceph|afs|lustre|gluster|autofs|beegfs|virtiofs|ocfs|gfs|davfs|glusterfs|sshfs|vboxsf|prl_fs)/;

const CHILD = fileURLToPath(new URL('../platform/disk-child.cjs', import.meta.url));

type Job = {
  /** The path as requested. */
  path: string;
  at: LookAt;
  hops: number;
  probe: Place | null;
  answer: Deferred<PathLook>;
  /** Stops waiting for a slot. */
  leave: () => void;
};

/** The last check of a path: when, the resolved path, and what did not answer. */
type Remembered = { when: number; at: LookAt; blamed: Place | null };

/** Messages of the checking process, one per line. */
type Told = { id: number } & (
  | { kind: 'begun' }
  | { kind: 'proven' }
  | { kind: 'elsewhere'; path: string }
  | Exclude<PathLook, { kind: 'silent' | 'unlooked' }>
);

/** `createDisks` starts its processes at the first check; `stop` ends them. */
export function createDisks(options: { clock: Clock; runner: Pick<ProcessRunner, 'spawnPiped'> }): Disks {
  return new DiskLooks(options);
}

class DiskLooks implements Disks {
  readonly #clock: Clock;
  readonly #runner: Pick<ProcessRunner, 'spawnPiped'>;
  readonly #turns = new LookTurns();
  readonly #under_way = new Map<string, Promise<PathLook>>();
  /** By mount, first in first out. */
  readonly #waiting = new Map<string, Set<Job>>();
  #waiting_count = 0;
  readonly #children = new Set<Child>();
  readonly #remembered = new Map<string, Remembered>();
  readonly #hearing = new Set<() => void>();
  #mounts: { read_at: number; table: Mount[] | null } | null = null;
  #cancelProbe: () => void = () => {};
  #stopped = false;

  constructor(options: { clock: Clock; runner: Pick<ProcessRunner, 'spawnPiped'> }) {
    this.#clock = options.clock;
    this.#runner = options.runner;
  }

  look(path: string): Promise<PathLook> {
    const known = this.#under_way.get(path);
    if (known !== undefined) return known;
    const look = this.#begin(path, this.#placeOf(path), null).finally(() => this.#under_way.delete(path));
    this.#under_way.set(path, look);
    return look;
  }

  async prove(path: string): Promise<Proof> {
    const known = this.#remembered.get(path);
    const fresh = known !== undefined && Math.abs(this.#clock.now() - known.when) < FRESH_MS;
    if (fresh && !this.isSilent(path)) return 'answers';
    const { kind } = await this.look(path);
    return kind === 'silent' || kind === 'unlooked' ? kind : 'answers';
  }

  answered(path: string): void {
    const known = this.#remembered.get(path);
    if (known !== undefined) known.when = this.#clock.now();
  }

  unanswered(path: string): void {
    this.#remembered.delete(path);
    void this.look(path);
  }

  isSilent(path: string): boolean {
    const now = this.#clock.now();
    const { at = this.#placeOf(path), blamed = null } = this.#remembered.get(path) ?? {};
    if (blamed !== null && this.#turns.isSilent(blamed, now)) return true;
    return this.#turns.silence(at, now) !== null;
  }

  mountOf(path: string): { name: string; local: boolean } {
    const { mount, local } = this.#remembered.get(path)?.at ?? this.#placeOf(path);
    return { name: mount, local };
  }

  onAnswer(hear: () => void): () => void {
    this.#hearing.add(hear);
    return () => this.#hearing.delete(hear);
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelProbe();
    for (const jobs of this.#waiting.values())
      for (const job of jobs) this.#settle(job, { kind: 'unlooked' });
    for (const child of [...this.#children]) child.stop();
  }

  #begin(path: string, at: LookAt, probe: Place | null): Promise<PathLook> {
    const job: Job = { path, at, hops: 0, probe, answer: createDeferred(), leave: () => {} };
    this.#ask(job);
    return job.answer.promise;
  }

  #ask(job: Job): void {
    if (this.#stopped) this.#settle(job, { kind: 'unlooked' });
    else if (this.#try(job)) return;
    else if (this.#waiting_count >= MOST_WAITING) this.#settle(job, { kind: 'unlooked' });
    else this.#wait(job);
  }

  /** False if the check has to wait for a slot. */
  #try(job: Job): boolean {
    const turn = this.#turns.ask(job.at, this.#clock.now(), job.probe !== null);
    if (turn.kind === 'silent') this.#settle(job, this.#silentAt(turn.place));
    if (turn.kind === 'run') this.#run(job);
    return turn.kind !== 'wait';
  }

  #wait(job: Job): void {
    const { mount } = job.at;
    const jobs = this.#waiting.get(mount) ?? new Set();
    this.#waiting.set(mount, jobs.add(job));
    this.#waiting_count += 1;
    const cancel = this.#clock.after(TURN_DEADLINE_MS, () => this.#settle(job, { kind: 'unlooked' }));
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
    const turn = this.#turns.begin(at);
    const child = [...this.#children].find((one) => one.isFree) ?? this.#start();
    let proven = false;
    const giveUp = () => {
      const place = this.#turns.late(at, turn, proven, this.#clock.now());
      this.#abandon(child, at, place);
      this.#settle(job, this.#silentAt(place));
      this.#pump();
    };
    let cancel = this.#clock.after(BEGIN_DEADLINE_MS, () => child.stop());
    child.ask({ path: at.path, mount: at.mount }, (told) => {
      if (told?.kind === 'begun') {
        cancel();
        cancel = this.#clock.after(LOOK_DEADLINE_MS, () => {
          cancel = this.#clock.after(READ_GRACE_MS, giveUp);
        });
        return;
      }
      if (told?.kind === 'proven') {
        proven = true;
        this.#turns.proven(at.mount, this.#clock.now());
        return;
      }
      cancel();
      if (told === null) this.#turns.lost(at, turn);
      else this.#turns.end(at, turn, this.#clock.now());
      if (told === null || (told.kind === 'elsewhere' && job.hops >= MOST_HOPS))
        this.#settle(job, told === null ? { kind: 'unlooked' } : { kind: 'unreadable', detail: 'ELOOP' });
      else if (told.kind === 'elsewhere') {
        // This check only probed a silent place and has its answer; it does not resolve the path.
        if (job.probe !== null) this.#settle(job, { kind: 'other', real: at.path });
        else {
          job.hops += 1;
          job.at = this.#placeOf(told.path);
          this.#ask(job);
        }
      } else {
        const { id: _id, ...look } = told;
        this.#settle(job, look);
      }
      this.#pump();
    });
  }

  #settle(job: Job, look: PathLook): void {
    job.leave();
    const blamed = look.kind === 'silent' ? this.#turns.silence(job.at, this.#clock.now()) : null;
    if (look.kind !== 'unlooked') this.#remember(job.path, { when: this.#clock.now(), at: job.at, blamed });
    if (job.probe !== null) {
      const now = this.#clock.now();
      if (look.kind === 'unlooked') this.#turns.probeLost(job.probe, now);
      else if (!this.#turns.isSilent(job.probe, now)) this.#tell();
    }
    job.answer.resolve(look);
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
  #abandon(child: Child, at: LookAt, place: Place): void {
    const since = this.#clock.now();
    this.#children.delete(child);
    child.abandon(() => {
      const now = this.#clock.now();
      this.#turns.freed(at, place, now - since, now);
      this.#planProbe();
      this.#pump();
    });
  }

  #planProbe(): void {
    this.#cancelProbe();
    const next = this.#stopped ? null : this.#turns.nextProbe();
    if (next === null) return;
    const wait = Math.max(0, next - this.#clock.now());
    this.#cancelProbe = this.#clock.after(wait, () => {
      for (const { at, place } of this.#turns.probes(this.#clock.now())) void this.#begin(at.path, at, place);
      this.#planProbe();
    });
  }

  #remember(path: string, look: Remembered): void {
    this.#remembered.delete(path);
    this.#remembered.set(path, look);
    if (this.#remembered.size <= MOST_REMEMBERED) return;
    const [oldest] = this.#remembered.keys();
    if (oldest !== undefined) this.#remembered.delete(oldest);
  }

  #tell(): void {
    for (const hear of this.#hearing) hear();
  }

  #silentAt(place: Place): PathLook {
    return { kind: 'silent', after_ms: LOOK_DEADLINE_MS, place: place.name };
  }

  #placeOf(path: string): LookAt {
    const { point, type } = mountOf(path, this.#table());
    return { path, mount: point, local: !REMOTE_TYPE.test(type) };
  }

  #table(): Mount[] | null {
    const now = this.#clock.now();
    if (this.#mounts === null || Math.abs(now - this.#mounts.read_at) >= MOUNTS_MS)
      this.#mounts = { read_at: now, table: readMounts() };
    return this.#mounts.table;
  }
}

/** One checking process. It handles one check at a time; the answer is null if the process ended first. */
class Child {
  readonly #process: PipedProcess;
  #asked: { id: number; hear: (told: Told | null) => void } | null = null;
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
      asked?.hear(null);
    });
  }

  get isFree(): boolean {
    return this.#asked === null;
  }

  ask(look: { path: string; mount: string }, hear: (told: Told | null) => void): void {
    this.#last_id += 1;
    this.#asked = { id: this.#last_id, hear };
    // A failed write means that the process has ended; its exit event handles that.
    this.#process.write(`${JSON.stringify({ id: this.#last_id, ...look })}\n`);
  }

  /** Kills the process; pending checks get no answer. */
  stop(): void {
    const asked = this.#asked;
    this.#onGone();
    this.abandon(() => {});
    asked?.hear(null);
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
      const told = JSON.parse(line) as Told;
      const asked = this.#asked;
      if (asked?.id !== told.id) continue;
      if (told.kind !== 'proven' && told.kind !== 'begun') this.#asked = null;
      asked.hear(told);
    }
  }
}
