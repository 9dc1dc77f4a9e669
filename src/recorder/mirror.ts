import { statSync } from 'node:fs';
import { backoffDelay } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { shellLine } from '../base/shell-word.ts';
import type { PipedProcess } from '../platform/piped-process.ts';
import type { ProcessRunner } from '../platform/process.ts';
import { readPart } from '../platform/read-part.ts';
import { sshFault } from '../platform/ssh-fault.ts';
import { type MirrorTarget, mirrorArgs, mirrorStep, readSizes, scpArgv } from './mirror-copy.ts';

const LOOK_MS = 500;
/** After how long without an answer of the other host the copy is said to be behind, in milliseconds. */
const ANSWER_LATE_MS = 30_000;
const PAUSE = { first: 1_000, most: 30_000 };
/** How long a file that is not ours is left before the next look whether it was moved away, in milliseconds. */
const REFUSED_MS = 15_000;
/** What a far end says at most without a line, in characters: more is no answer of ours. */
const MOST_ANSWER_CHARS = 64 * 1024;

export type MirrorWorld = {
  clock: Clock;
  runner: Pick<ProcessRunner, 'spawnPiped'>;
  env: NodeJS.ProcessEnv;
  /** The path of `ssh`. */
  ssh: string;
};

/**
 * Copies a file that only grows to another host over SSH, as it grows. A connection that ends is made again, after a pause that
 * grows, and goes on behind what the copy has.
 */
export class Mirror {
  readonly #path: string;
  readonly #target: MirrorTarget;
  readonly #world: MirrorWorld;
  readonly #onFault: (sentence: string | null) => void;
  #ours = 0;
  #theirs: number | null = null;
  /** The last size of the copy that is of our making, also over an earlier connection; null before there was one. */
  #arrived: number | null = null;
  /** Up to where bytes were sent that the copy has, or may get yet from a connection that was cut. */
  #sent = 0;
  /** Up to where the order goes that was not answered yet; null without one. */
  #ordered: number | null = null;
  /** Why the copy is behind. */
  #why: string | null = null;
  /** The file there is not ours, as far as was seen last. */
  #refused = false;
  #ending = false;
  #sending = false;
  #failures = 0;
  #pausing = false;
  #stopLooking = () => {};
  #link: PipedProcess | null = null;
  #answer = '';
  #cancelRetry = () => {};
  #cancelLate = () => {};
  readonly #whole = new Set<() => void>();

  /** `onFault` is told why the copy is behind, and null when it no longer is. */
  constructor(
    path: string,
    target: MirrorTarget,
    world: MirrorWorld,
    onFault: (sentence: string | null) => void,
  ) {
    this.#path = path;
    this.#target = target;
    this.#world = world;
    this.#onFault = onFault;
  }

  /** Looks at the file from now on: not only the recorder appends to it. */
  start(): void {
    this.#stopLooking = this.#world.clock.every(LOOK_MS, () => this.#look());
    this.#look();
  }

  /**
   * Resolves to true when the copy has all of the file, or to false after so many milliseconds, with a fault that says what it
   * lacks; then it ends.
   */
  async finish(deadline_ms: number): Promise<boolean> {
    const late = Promise.withResolvers<void>();
    const cancel = this.#world.clock.after(deadline_ms, late.resolve);
    const whole = Promise.withResolvers<void>();
    this.#whole.add(whole.resolve);
    this.#failures = 0;
    this.#look();
    if (this.#isWhole()) whole.resolve();
    await Promise.race([whole.promise, late.promise]);
    cancel();
    this.#ending = true;
    this.#stopLooking();
    this.#cancelRetry();
    this.#cancelLate();
    this.#link?.kill();
    if (!this.#isWhole()) this.#onFault(this.#lacking());
    return this.#isWhole();
  }

  #isWhole(): boolean {
    return this.#theirs === this.#ours;
  }

  #lacking(): string {
    const { alias } = this.#target;
    const lacks =
      this.#arrived === null || this.#refused
        ? 'is not whole'
        : `lacks the last ${this.#ours - this.#arrived} bytes`;
    const why = this.#why === null ? '' : ` (${this.#why})`;
    const first = this.#refused ? 'move that file away, and ' : '';
    return `the copy on ${alias} ${lacks}${why}; ${first}copy it with: ${shellLine(scpArgv(this.#path, this.#target))}`;
  }

  #look(): void {
    this.#ours = sizeOf(this.#path) ?? this.#ours;
    if (this.#ending) return;
    if (this.#link !== null) void this.#send();
    else if (!this.#pausing || this.#failures === 0) this.#connect();
  }

  #connect(): void {
    const { runner, env, ssh } = this.#world;
    this.#cancelRetry();
    this.#pausing = false;
    // A group of its own: Ctrl-C in the terminal of the recorder would end it before the last words.
    const link = runner.spawnPiped({
      file: ssh,
      args: mirrorArgs(this.#target),
      cwd: '/',
      env,
      detached: true,
    });
    this.#link = link;
    this.#answer = '';
    this.#theirs = null;
    this.#sending = false;
    this.#expectAnswer();
    link.onStdout((chunk) => {
      if (this.#link === link) this.#heard(Buffer.from(chunk).toString('latin1'));
    });
    link.onExit((said) => {
      if (this.#link === link) this.#lost(said);
    });
  }

  #heard(text: string): void {
    const { sizes, rest } = readSizes(this.#answer + text);
    this.#answer = rest.slice(-MOST_ANSWER_CHARS);
    const size = sizes.at(-1);
    if (size === undefined) return;
    this.#theirs = size;
    // Another size: the order was not carried out, since the copy did not end where it began.
    if (size === this.#ordered) this.#sent = size;
    this.#ordered = null;
    this.#sending = false;
    this.#failures = 0;
    this.#cancelLate();
    void this.#send();
  }

  async #send(): Promise<void> {
    const link = this.#link;
    if (link === null || this.#theirs === null || this.#sending) return;
    const [theirs, arrived] = [this.#theirs, this.#arrived ?? 0];
    const step = mirrorStep({ ours: this.#ours, theirs, arrived, sent: this.#sent });
    if (step.kind === 'refused') {
      this.#refuse(step.why);
      return;
    }
    this.#arrived = theirs;
    this.#refused = false;
    this.#isBehind(null);
    if (step.kind === 'done') {
      this.#settle();
      return;
    }
    this.#sending = true;
    try {
      const part = await readPart(this.#path, step.offset, step.length);
      // Whole lines alone: the end of one may be taken back on a disk that is full.
      const bytes = part.subarray(0, part.lastIndexOf(0x0a) + 1);
      if (this.#link !== link) return;
      if (bytes.length === 0) {
        this.#sending = false;
        return;
      }
      this.#ordered = step.offset + bytes.length;
      link.write(Buffer.concat([Buffer.from(`${step.offset} ${bytes.length}\n`), bytes]));
      this.#expectAnswer();
    } catch {
      // Our own file cannot be read now; the next look tries again.
      this.#sending = false;
    }
  }

  #expectAnswer(): void {
    this.#cancelLate();
    const { alias, flags } = this.#target;
    const by_hand = shellLine(['ssh', ...flags, '--', alias]);
    this.#cancelLate = this.#world.clock.after(ANSWER_LATE_MS, () =>
      this.#isBehind(
        `it has not answered for ${ANSWER_LATE_MS / 1_000} s`,
        `see what holds it up: ${by_hand}`,
      ),
    );
  }

  #isBehind(why: null): void;
  #isBehind(why: string, mend: string): void;
  #isBehind(why: string | null, mend?: string): void {
    this.#why = why;
    this.#onFault(
      why === null ? null : `the transcript is not copied to ${this.#target.alias}: ${why}; ${mend}`,
    );
  }

  #lost(said: string): void {
    this.#link = null;
    this.#sent = this.#ordered ?? this.#sent;
    this.#ordered = null;
    this.#cancelLate();
    if (this.#ending) return;
    const { alias, flags } = this.#target;
    const { why, mend } = sshFault(said, alias, shellLine(['ssh', ...flags, '--', alias]));
    this.#isBehind(why, mend);
    this.#retryIn(backoffDelay(PAUSE, this.#failures + 1));
  }

  #refuse(why: string): void {
    this.#refused = true;
    this.#theirs = null;
    this.#cancelLate();
    this.#link?.kill();
    this.#link = null;
    this.#isBehind(why, `move ${this.#target.path} there away, and the copy begins anew`);
    this.#retryIn(REFUSED_MS);
    this.#settle();
  }

  #retryIn(ms: number): void {
    this.#failures += 1;
    this.#pausing = true;
    this.#cancelRetry = this.#world.clock.after(ms, () => this.#connect());
  }

  #settle(): void {
    for (const resolve of this.#whole) resolve();
  }
}

/** Null where the disk does not tell now. */
function sizeOf(path: string): number | null {
  try {
    return statSync(path).size;
  } catch {
    return null;
  }
}
