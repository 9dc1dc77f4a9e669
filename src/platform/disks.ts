import { fileURLToPath } from 'node:url';
import type { Clock } from '../base/clock.ts';
import { createDeferred, type Deferred } from '../base/deferred.ts';
import { type Mount, mountOf, readMounts } from './disk-walk.cjs';
import { type LookAt, LookTurns, type Place } from './look-turns.ts';
import { NEUTRAL_DIRECTORY, type PipedProcess, type ProcessRunner } from './process.ts';

/** What lies at a path; `real` has every link resolved. Times in milliseconds. */
export type PathLook =
  | { kind: 'directory' | 'file' | 'other'; real: string }
  | { kind: 'missing' }
  | { kind: 'unreadable'; detail: string }
  /** Its own disk did not answer; `place` is the mount, or the one path, that did not. */
  | { kind: 'silent'; after_ms: number; place: string }
  /** It has not been looked at: other looks had every turn. No answer about this path. */
  | { kind: 'unlooked' };

/** Whether a path may be touched by this process itself. */
export type Proof = 'answers' | 'silent' | 'unlooked';

/** Looks at paths of any disk without ever waiting for one in this process. */
export type Disks = {
  look(path: string): Promise<PathLook>;
  /** Answers from memory when the path was looked at, or read, less than a second ago. */
  prove(path: string): Promise<Proof>;
  /** This process has just had an answer about the path itself. */
  answered(path: string): void;
  /** This process itself waited for the path in vain; its disk is asked before anything else touches it. */
  unanswered(path: string): void;
  /** Known not to answer now. Touches nothing; what is silent is asked again in the background. */
  isSilent(path: string): boolean;
  /** The mount that a path is on, as far as it was followed; `local` waits for no other machine. */
  mountOf(path: string): { name: string; local: boolean };
  /** Told when something silent answers again; returns how to stop hearing. */
  onAnswer(hear: () => void): () => void;
  /** Ends the processes that look; nothing is waited for. */
  stop(): void;
};

/** How long one disk may keep a look waiting, in milliseconds. */
const LOOK_DEADLINE_MS = 5_000;
/** How long a process may take to begin a look, in milliseconds: a machine that is overloaded is no silent disk. */
const BEGIN_DEADLINE_MS = 10_000;
/** An answer that came while this thread was busy is read within this, in milliseconds, before a look is given up. */
const READ_GRACE_MS = 100;
/** How long a look waits for its turn: longer, so that it hears what the one before it found out. */
const TURN_DEADLINE_MS = 6_000;
/** An answer counts this long, in milliseconds. */
const FRESH_MS = 1_000;
/** Paths whose last answer is remembered. */
const MOST_REMEMBERED = 4_096;
/** Looks that wait for a turn. */
const MOST_WAITING = 16_384;
/** The table of mounts is read again after this, in milliseconds. The looking process reads it each time. */
const MOUNTS_MS = 1_000;
/** As many mounts as links can lead through. */
const MOST_HOPS = 40;
/** File systems that ask another machine or another program for every answer. */
const REMOTE_TYPE =
  /^(nfs|cifs|smb|fuse|9p|ceph|afs|lustre|gluster|autofs|beegfs|virtiofs|ocfs|gfs|davfs|glusterfs|sshfs|vboxsf|prl_fs)/;

const CHILD = fileURLToPath(new URL('../platform/disk-child.cjs', import.meta.url));

type Job = {
  /** As it was asked for. */
  path: string;
  at: LookAt;
  hops: number;
  probe: Place | null;
  answer: Deferred<PathLook>;
  /** Gives up waiting for a turn. */
  leave: () => void;
};

/** The last look at a path: when, where it led, and what did not answer. */
type Remembered = { when: number; at: LookAt; blamed: Place | null };

/** What the looking process says, a line each. */
type Told = { id: number } & (
  | { kind: 'begun' }
  | { kind: 'proven' }
  | { kind: 'elsewhere'; path: string }
  | Exclude<PathLook, { kind: 'silent' | 'unlooked' }>
);

/** `createDisks` starts its processes when the first look asks for one; `stop` ends them. */
export function createDisks(options: { clock: Clock; runner: Pick<ProcessRunner, 'spawnPiped'> }): Disks {
  return new DiskLooks(options);
}

class DiskLooks implements Disks {
  readonly #clock: Clock;
  readonly #runner: Pick<ProcessRunner, 'spawnPiped'>;
  readonly #turns = new LookTurns();
  readonly #under_way = new Map<string, Promise<PathLook>>();
  /** By mount, in the order they came. */
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

  /** False where the look has to wait for its turn. */
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
        // What asked a silent place again has its answer; where the path leads is another question.
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

  /** Gives free turns to looks that wait, in the order they came; what turned out silent meanwhile is answered. */
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

  /** A process that a disk holds cannot be waited for; it leaves when the disk lets go of it. */
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

/** One looking process. It answers one look at a time; null for an answer that never comes because it ended. */
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
    // A process that takes nothing has ended, and says so with its exit.
    this.#process.write(`${JSON.stringify({ id: this.#last_id, ...look })}\n`);
  }

  /** Ends the process; whoever asked hears that there is no answer. */
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
