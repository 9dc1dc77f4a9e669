import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { CodedError, isCoded, messageOf } from '../base/errors.ts';
import type { Origin } from '../contract/http/composite.ts';
import type { RemoteState } from '../contract/http/state.ts';
import { type FeedAnswer, readFeedAnswer } from './feed-answer.ts';
import type { FeedTransport } from './feed-transport.ts';
import { misdirected, type Place, refused, tagOf, unreachable } from './read-remote.ts';
import type { FollowedRemote } from './remote-address.ts';
import { RemoteCopy } from './remote-copy.ts';
import {
  afterFailure,
  afterReset,
  isDoubtful,
  type Recovery,
  WELL,
  waitAfterFailure,
} from './remote-recovery.ts';

/** Bytes that an answer may bring for each millisecond until the next question. */
const BYTES_PER_MS = 2 * 1024;
/** Between two questions to one host, also where something new is told all the time. */
const LEAST_GAP_MS = 50;

const versionSchema = z.object({ host: z.string(), git_short_sha: z.string() });

/** The copy that was kept of a remote. */
export type KeptCopy = { answer: FeedAnswer; last_ok_at: number; build: string | null };

export type RemoteFeedOptions = {
  remote: FollowedRemote;
  transport: FeedTransport;
  /** Where the remote is reached now, for a step of the cascade. */
  lookUp(name: string): FollowedRemote | null;
  /** The number that the next change gets. */
  next(): number;
  /** That number has been given: the copy, or how fresh it is, has changed. */
  changed(): void;
  clock: Clock;
  /** From 0 to 1. */
  random(): number;
};

/** Follows the feed of one remote and keeps its last good copy. One question is under way at a time. */
export class RemoteFeed {
  readonly #in: RemoteFeedOptions;
  readonly #stopped = new AbortController();
  #remote: FollowedRemote;
  #copy: RemoteCopy | null = null;
  /** Of a copy whose host names no rows. */
  #etag: string | null = null;
  #recovery: Recovery = WELL;
  #last_ok_at: number | null = null;
  #error: Origin['error'] = null;
  #build: string | null = null;
  /** Whether who answers has said who it is since it answered last. */
  #known = false;
  #asking = false;
  #again = false;
  #state: Origin['state'] = 'no_answer';
  #callOff: () => void = () => undefined;

  constructor(options: RemoteFeedOptions) {
    this.#in = options;
    this.#remote = options.remote;
  }

  get copy(): RemoteCopy | null {
    return this.#copy;
  }

  get remote(): FollowedRemote {
    return this.#remote;
  }

  /** Begins with the copy that was kept, if any, and asks at once. */
  begin(kept: KeptCopy | null): void {
    if (kept !== null) {
      this.#copy = new RemoteCopy(kept.answer, this.#in.next());
      this.#last_ok_at = kept.last_ok_at;
      this.#build = kept.build;
      this.#state = this.#judge();
      this.#in.changed();
    }
    void this.#ask();
  }

  /** Its entry has changed. */
  become(remote: FollowedRemote): void {
    const moved = !isDeepStrictEqual(this.#remote.address, remote.address);
    this.#remote = remote;
    if (!moved) return;
    this.#known = false;
    void this.#ask();
  }

  /** How fresh its copy is; `unpolled` until it was asked for the first time. */
  standing(): RemoteState {
    const { name } = this.#remote;
    const asked = this.#last_ok_at !== null || this.#error !== null;
    const breaker =
      this.#recovery.phase === 'tripped'
        ? 'tripped'
        : this.#recovery.phase === 'cascade'
          ? 'recovering'
          : 'closed';
    return { name, ...this.origin(), state: asked ? this.#state : 'unpolled', breaker };
  }

  origin(): Omit<Origin, 'read'> {
    return { state: this.#state, last_ok_at: this.#last_ok_at, error: this.#error, build: this.#build };
  }

  /** Judges anew how fresh the copy is. */
  look(): void {
    const state = this.#judge();
    if (state === this.#state) return;
    this.#state = state;
    this.#in.changed();
  }

  /** Runs one cascade now; false where the breaker is not tripped (BRK-1). */
  reset(): boolean {
    const recovery = afterReset(this.#recovery);
    if (recovery === null) return false;
    this.#recovery = recovery;
    void this.#ask();
    return true;
  }

  stop(): void {
    this.#stopped.abort();
    this.#callOff();
  }

  #judge(): Origin['state'] {
    if (this.#copy === null || this.#last_ok_at === null) return 'no_answer';
    const { poll_interval_ms, stale_multiplier } = this.#remote.timing;
    const old = this.#in.clock.now() - this.#last_ok_at > poll_interval_ms * stale_multiplier;
    return old || isDoubtful(this.#recovery) ? 'stale' : 'fresh';
  }

  async #ask(): Promise<void> {
    if (this.#asking) {
      this.#again = true;
      return;
    }
    this.#callOff();
    this.#asking = true;
    this.#again = false;
    const meter = { bytes: 0 };
    try {
      await this.#question(meter);
      this.#succeeded();
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      this.#failed(error);
    } finally {
      this.#asking = false;
    }
    if (!this.#stopped.signal.aborted) this.#askAfter(this.#wait(meter.bytes));
  }

  /** Milliseconds until the next question. What a host sends costs it time, so that no answers take those of the others. */
  #wait(received: number): number {
    const least = Math.max(LEAST_GAP_MS, received / BYTES_PER_MS);
    if (this.#again) return least;
    const random = this.#in.random();
    if (this.#recovery.phase !== 'well') return Math.max(least, waitAfterFailure(this.#recovery, random));
    return Math.max(least, this.#remote.timing.poll_interval_ms * (0.9 + random / 5));
  }

  #askAfter(ms: number): void {
    this.#callOff();
    this.#callOff = this.#in.clock.after(ms, () => void this.#ask());
  }

  /** Asks who answers, where that is not known, and what changed. */
  async #question(meter: { bytes: number }): Promise<void> {
    const { phase } = this.#recovery;
    if (phase === 'cascade' && this.#recovery.step === 'look_up')
      this.#remote = this.#in.lookUp(this.#remote.name) ?? this.#remote;
    const { name, address, problem, timing } = this.#remote;
    if (address === null)
      throw new CodedError('invalid_config', `${problem}; mend it with: svc remotes add ${name}`);
    const to = { name, address };
    const get = (path: string, if_none_match: string | null) =>
      this.#in.transport.get({
        ...{ to, path, if_none_match, meter },
        timeout_ms: timing.request_timeout_ms,
        anew: phase === 'cascade',
        signal: this.#stopped.signal,
      });
    if (!this.#known) {
      const { status, body } = await get('/version', null);
      const version = status === 200 ? versionSchema.safeParse(orNull(() => parsed(body))).data : undefined;
      if (version === undefined) throw unreachable(to, 'what answers there is no daemon of this kind');
      if (version.host !== name) throw misdirected(to, version.host);
      this.#build = version.git_short_sha;
      this.#known = true;
    }
    const tag = this.#copy?.tag ?? '';
    const path = `/fibers?since=${encodeURIComponent(tag)}`;
    const { status, headers, body } = await get(path, tag === '' ? this.#etag : null);
    if (status === 304 && this.#copy !== null) return;
    if (status !== 200) throw refused(to, status, body);
    this.#take(to, body);
    this.#etag = tagOf(headers.etag);
  }

  #take(to: Place, body: Buffer): void {
    const { next, changed } = this.#in;
    const answer = this.#read(to, body);
    if (this.#copy !== null) {
      if (this.#copy.apply(answer, next())) changed();
      return;
    }
    if (answer.removed !== null) throw unreachable(to, 'it told changes of rows that it never told');
    this.#copy = new RemoteCopy(answer, next());
    changed();
  }

  #read(to: Place, body: Buffer): FeedAnswer {
    try {
      const answer = readFeedAnswer(parsed(body));
      if (answer.host !== to.name) throw misdirected(to, answer.host);
      return answer;
    } catch (error) {
      throw isCoded(error) ? error : unreachable(to, messageOf(error));
    }
  }

  #succeeded(): void {
    const was = this.#seen();
    this.#recovery = WELL;
    this.#error = null;
    this.#last_ok_at = this.#in.clock.now();
    this.#state = this.#judge();
    if (this.#seen() !== was) this.#in.changed();
  }

  #failed(error: unknown): void {
    const was = this.#seen();
    this.#recovery = afterFailure(this.#recovery);
    this.#known = false;
    this.#error = { code: isCoded(error) ? error.code : 'internal', message: messageOf(error) };
    this.#state = this.#judge();
    if (this.#seen() !== was) this.#in.changed();
  }

  /** What who reads the copy is told of it, but for times. */
  #seen(): string {
    return JSON.stringify([this.#state, this.#error, this.#build]);
  }
}

/** Throws an `Error` that says in a few words what is wrong with the answer. */
function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new Error('its answer is not JSON');
  }
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
