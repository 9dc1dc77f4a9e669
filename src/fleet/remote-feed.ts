import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { backoffDelay } from '../base/backoff.ts';
import { type Clock, sleep } from '../base/clock.ts';
import { CodedError, isCoded, messageOf } from '../base/errors.ts';
import type { Origin } from '../contract/http/composite.ts';
import { type DatedStores, type StoreOrigin, toldStoresSchema } from '../contract/http/config.ts';
import type { RemoteState } from '../contract/http/state.ts';
import { addressFault } from '../contract/remote-address.ts';
import type { HttpBytes } from '../platform/http-client.ts';
import type { SpareMemories } from './bytes-in-place.ts';
import { type FeedAnswer, readFeedAnswer } from './feed-answer.ts';
import type { FeedTransport } from './feed-transport.ts';
import type { KeptFeed } from './kept-feeds.ts';
import type { LiveStream } from './live-stream.ts';
import { isParsable } from './parsed-in-pieces.ts';
import {
  buildChanged,
  misdirected,
  type Place,
  refused,
  tagOf,
  unreachable,
  unreadable,
} from './read-remote.ts';
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
import { TimeShare } from './time-share.ts';

/** Each millisecond until the next poll allows this many received bytes. */
const BYTES_PER_MS = 2 * 1024;
/** Least time between two requests to a host that does not answer, also if somebody wants to reach it. */
const ASK_AGAIN_MS = 1_000;
/** Least time between two requests to a host, also if it reports changes all the time. */
const LEAST_GAP_MS = 50;

/** Most levels of lists and maps in an answer; those of one document may have half of that. */
const MOST_ROW_DEPTH = 64;
/** How long the lists of stores of a host are cached. */
const STORES_MS = 60_000;
/** Lists that are older were asked for again in vain. */
const OLD_STORES_MS = 5 * STORES_MS;
const MOST_STORES_BYTES = 1024 * 1024;
/** How long a restarted tunnel may take to be up. */
const TUNNEL_MS = 2_000;
/** Polls of a host that reports its changes by a stream: one in so many intervals. */
const LIVE_INTERVALS = 12;
/** Delay of the next stream after one that ended soon. */
const NEXT_STREAM = { first: 5_000, most: 300_000 };
/** A stream that was open for so long, in milliseconds, ended by a change of the connection or of that host. */
const STEADY_MS = 30_000;

const liveSchema = z.object({ feed: z.string(), since: z.string().optional(), tag: z.string().nullish() });
const versionSchema = z.object({ host: z.string(), git_short_sha: z.string().max(200) });

export type RemoteFeedOptions = {
  remote: FollowedRemote;
  transport: FeedTransport;
  /** Where the remote is reached now, for a step of the cascade. */
  lookUp(name: string): Promise<FollowedRemote | null>;
  /** Has the tunnel to the remote restarted, and answers whether this machine keeps one up; never rejects. */
  restartTunnel(name: string): Promise<boolean>;
  /** What copies leave behind when they move. */
  spares: SpareMemories;
  /** Returns the number for the next change. */
  next(): number;
  /** Called after the copy, or how fresh it is, has changed under that number. */
  changed(): void;
  clock: Clock;
  /** Milliseconds by a clock that nobody sets. */
  monotonic(): number;
  /** From 0 to 1. */
  random(): number;
};

/**
 * Follows the feed of one remote and keeps its last good copy: by the stream of that host as long as one is held, else by
 * asking it now and then. One question is under way at a time.
 */
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
  /** Whether the host that answers has identified itself since its last answer. */
  #known = false;
  #asking = false;
  #again = false;
  /** Whether its entry has changed since the last question began. */
  #is_other = false;
  /** `opened_at` is when its first message came, by the monotonic clock as the times below; null before that. */
  #stream: { held: LiveStream; opened_at: number | null } | null = null;
  /** Streams in a row that were soon over, and when the next one may be tried. */
  #short_streams = 0;
  #next_stream_at = 0;
  /** The last tag that the stream reported. */
  #told: string | null = null;
  #asked_at = Number.NEGATIVE_INFINITY;
  /** No poll before this time by the monotonic clock, because of the bytes that it sent. */
  #not_before = 0;
  readonly #share: TimeShare;
  /** The lists of stores of that host, when it sent them, and when they were requested by the monotonic clock. */
  #stores: { lists: StoreOrigin; told_at: number } | null = null;
  #stores_at: number | null = null;
  #state: Origin['state'] = 'no_answer';
  #callOff: () => void = () => undefined;

  constructor(options: RemoteFeedOptions) {
    this.#in = options;
    this.#remote = options.remote;
    this.#share = new TimeShare(options.monotonic);
  }

  get copy(): RemoteCopy | null {
    return this.#copy;
  }

  /** Its stores and projects, as it told them last; null where it did not. */
  get stores(): DatedStores | null {
    if (this.#stores === null) return null;
    const { lists, told_at } = this.#stores;
    const is_old = Math.abs(this.#in.clock.now() - told_at) > OLD_STORES_MS;
    const state = is_old || this.#state !== 'fresh' ? 'stale' : 'fresh';
    return { ...lists, state, last_ok_at: told_at, error: this.#error };
  }

  /** Begins with the copy that was kept, if any, and asks at once; resolves when that question is over, and never rejects. */
  async begin(kept: KeptFeed | null): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    if (kept !== null && this.#copy === null) {
      this.#copy = new RemoteCopy(kept.answer, this.#in.next(), this.#in.spares);
      // The clock may have been set back since.
      this.#last_ok_at = Math.min(kept.last_ok_at, this.#in.clock.now());
      this.#state = this.#judge();
      this.#in.changed();
    }
    await this.#ask();
  }

  /** Its entry has changed. */
  become(remote: FollowedRemote): void {
    const { address, build } = this.#remote;
    this.#remote = remote;
    if (isDeepStrictEqual([address, build], [remote.address, remote.build])) return;
    this.#known = false;
    this.#is_other = true;
    this.#endStream();
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

  /** Updates how fresh the copy is. */
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

  /** Asks it at once where its breaker is tripped, unless it was asked just now. */
  askAgain(): void {
    const isDue = this.#in.monotonic() - this.#asked_at >= ASK_AGAIN_MS;
    if (this.#recovery.phase === 'tripped' && isDue && !this.#asking) void this.#ask();
  }

  stop(): void {
    this.#stopped.abort();
    this.#callOff();
    this.#endStream();
  }

  #judge(): Origin['state'] {
    if (this.#copy === null || this.#last_ok_at === null) return 'no_answer';
    const { poll_interval_ms, stale_multiplier } = this.#remote.timing;
    // A time that is still to come was told by a clock that was set back since.
    const old = Math.abs(this.#in.clock.now() - this.#last_ok_at) > poll_interval_ms * stale_multiplier;
    const is_refused = this.#error?.code === 'build_changed';
    return old || is_refused || isDoubtful(this.#recovery) ? 'stale' : 'fresh';
  }

  async #ask(): Promise<void> {
    if (this.#asking) {
      this.#again = true;
      return;
    }
    this.#callOff();
    this.#asking = true;
    this.#again = false;
    this.#is_other = false;
    this.#asked_at = this.#in.monotonic();
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
    if (this.#stopped.signal.aborted) return;
    this.#not_before = this.#in.monotonic() + Math.max(LEAST_GAP_MS, meter.bytes / BYTES_PER_MS);
    this.#askAfter(Math.max(this.#costs(), this.#wait()));
  }

  /** Milliseconds that a host has to wait for what it has sent, so that no answers take the time of the others. */
  #costs(): number {
    return Math.max(0, this.#not_before - this.#in.monotonic(), this.#share.wait_ms);
  }

  /** Milliseconds until the next question. */
  #wait(): number {
    if (this.#is_other) return 0;
    const random = this.#in.random();
    if (this.#recovery.phase !== 'well') return waitAfterFailure(this.#recovery, random);
    if (this.#again && (this.#told === null || this.#told !== this.#copy?.tag)) return 0;
    const intervals = this.#stream?.opened_at == null ? 1 : LIVE_INTERVALS;
    return this.#remote.timing.poll_interval_ms * intervals * (0.9 + random / 5);
  }

  /** Polls as soon as possible. */
  #askSoon(): void {
    if (this.#asking) this.#again = true;
    else this.#askAfter(this.#costs());
  }

  /** Where this host cannot hold a stream it goes on being asked. */
  #openStream(): void {
    const { monotonic, transport } = this.#in;
    const { name, address, timing } = this.#remote;
    if (this.#stream !== null || address === null || monotonic() < this.#next_stream_at) return;
    const to = { name, address };
    const question = { to, timeout_ms: timing.request_timeout_ms, ping_ms: timing.poll_interval_ms };
    const held = transport.open(question, {
      message: (value) => {
        if (this.#stream?.held === held) this.#hear(to, value);
      },
      alive: () => {
        if (this.#stream?.held === held) this.#alive();
      },
      closed: () => {
        if (this.#stream?.held === held) this.#streamEnded();
      },
    });
    this.#stream = { held, opened_at: null };
  }

  #endStream(): void {
    this.#stream?.held.close();
    this.#stream = null;
    this.#told = null;
  }

  /** Whether that host is still there is asked at once, and who it is: it may be back with another build. */
  #streamEnded(): void {
    this.#known = false;
    const now = this.#in.monotonic();
    const opened_at = this.#stream?.opened_at ?? null;
    const was_steady = opened_at !== null && now - opened_at >= STEADY_MS;
    this.#short_streams = was_steady ? 0 : this.#short_streams + 1;
    this.#next_stream_at = now + backoffDelay(NEXT_STREAM, this.#short_streams);
    this.#endStream();
    if (opened_at !== null) this.#askSoon();
  }

  #hear(to: Place, value: unknown): void {
    const message = liveSchema.safeParse(value).data;
    if (message?.feed !== 'fibers' || this.#stream === null) return;
    this.#stream.opened_at ??= this.#in.monotonic();
    this.#alive();
    this.#told = message.tag ?? null;
    const tag = this.#copy?.tag ?? null;
    // The answer that is still under way may be older than this change.
    const follows = message.since !== undefined && message.since === tag && !this.#asking;
    const may = this.#share.wait_ms === 0;
    if (follows && may && this.#share.spend(() => this.#follow(to, value))) return;
    if (message.tag === undefined || message.tag !== tag) this.#askSoon();
  }

  /** Takes what changed after the copy; false where it is none of that. */
  #follow(to: Place, value: unknown): boolean {
    try {
      const answer = readFeedAnswer(value);
      if (answer.host !== to.name || answer.removed === null) return false;
      if (this.#copy?.apply(answer, this.#in.next())) this.#in.changed();
      return true;
    } catch {
      return false;
    }
  }

  #alive(): void {
    if (this.#recovery.phase !== 'well') return;
    this.#last_ok_at = this.#in.clock.now();
    this.look();
  }

  #askAfter(ms: number): void {
    this.#callOff();
    this.#callOff = this.#in.clock.after(ms, () => void this.#ask());
  }

  async #restartTunnel(): Promise<void> {
    const { clock, restartTunnel } = this.#in;
    if (await restartTunnel(this.#remote.name)) await sleep(clock, TUNNEL_MS);
  }

  /** Asks who answers, where that is not known, and what changed. */
  async #question(meter: { bytes: number }): Promise<void> {
    const { phase } = this.#recovery;
    // A tunnel that brings answers is not to blame for them, and carries what else that host is asked for.
    const answers = this.#error?.code === 'answer_unreadable' || this.#error?.code === 'build_changed';
    if (phase === 'cascade' && this.#recovery.step === 'restart_tunnel' && !answers)
      await this.#restartTunnel();
    if (phase === 'cascade' && this.#recovery.step === 'look_up')
      this.#remote = (await this.#in.lookUp(this.#remote.name)) ?? this.#remote;
    const { name, address, problem, timing, build } = this.#remote;
    if (address === null) {
      const { code, message } = addressFault(name, problem);
      throw new CodedError(code, message);
    }
    const to = { name, address };
    const get = (path: string, if_none_match: string | null) =>
      this.#in.transport.get({
        ...{ to, path, if_none_match, meter },
        timeout_ms: timing.request_timeout_ms,
        anew: phase === 'cascade',
        signal: this.#stopped.signal,
      });
    // Without a stream, whose end tells, another daemon may have begun to answer since.
    const isSure = build === null || this.#stream?.opened_at != null;
    if (!this.#known || !isSure) {
      const { status, body } = await get('/version', null);
      const version = status === 200 ? versionSchema.safeParse(orNull(() => parsed(body))).data : undefined;
      if (version === undefined)
        throw status === 200
          ? unreachable(to, 'the program that answers there is not a daemon of this kind')
          : refused(to, status, body);
      if (version.host !== name) throw misdirected(to, version.host);
      this.#build = version.git_short_sha;
      if (build !== null && this.#build !== build) throw buildChanged(to, build, this.#build);
      this.#known = true;
    }
    const tag = this.#copy?.tag ?? '';
    const path = `/fibers?since=${encodeURIComponent(tag)}`;
    const { status, headers, body } = await get(path, tag === '' ? this.#etag : null);
    if (status === 304 && this.#copy !== null) return;
    if (status !== 200) throw refused(to, status, body);
    this.#share.spend(() => this.#take(to, body));
    this.#etag = tagOf(headers.etag);
  }

  /** Asks for the lists of that host now and then. Its feed does not wait for them, and one that tells none is well too. */
  async #askStores(): Promise<void> {
    const now = this.#in.monotonic();
    const { name, address, timing } = this.#remote;
    const is_known = this.#stores_at !== null && now - this.#stores_at < STORES_MS;
    if (address === null || is_known) return;
    this.#stores_at = now;
    const question = {
      ...{ to: { name, address }, path: '/fiber-stores', if_none_match: null, meter: { bytes: 0 } },
      ...{ timeout_ms: timing.request_timeout_ms, anew: false, signal: this.#stopped.signal },
    };
    const answer = await this.#in.transport.get(question).catch(() => null);
    if (answer !== null) this.#takeStores(name, answer);
  }

  #takeStores(name: string, { status, body }: HttpBytes): void {
    if (status !== 200 || body.length > MOST_STORES_BYTES) return;
    const told = toldStoresSchema.safeParse(orNull(() => parsed(body))).data;
    if (told?.host !== name) return;
    const lists = told.origins[name];
    this.#stores = lists === undefined ? null : { lists, told_at: this.#in.clock.now() };
  }

  #take(to: Place, body: Buffer): void {
    const { next, changed } = this.#in;
    const answer = this.#read(to, body);
    if (this.#copy !== null) {
      if (this.#copy.apply(answer, next())) changed();
      return;
    }
    if (answer.removed !== null)
      throw unreadable(to, 'it sent changes to rows that this daemon does not have');
    this.#copy = new RemoteCopy(answer, next(), this.#in.spares);
    changed();
  }

  #read(to: Place, body: Buffer): FeedAnswer {
    try {
      const answer = readFeedAnswer(parsed(body));
      if (answer.host !== to.name) throw misdirected(to, answer.host);
      return answer;
    } catch (error) {
      throw isCoded(error) ? error : unreadable(to, messageOf(error));
    }
  }

  #succeeded(): void {
    const was = this.#seen();
    this.#recovery = WELL;
    this.#error = null;
    this.#last_ok_at = this.#in.clock.now();
    this.#state = this.#judge();
    if (this.#seen() !== was) this.#in.changed();
    this.#openStream();
    void this.#askStores();
  }

  #failed(error: unknown): void {
    const was = this.#seen();
    this.#recovery = afterFailure(this.#recovery);
    this.#known = false;
    this.#stores_at = null;
    this.#endStream();
    this.#error = { code: isCoded(error) ? error.code : 'internal', message: messageOf(error) };
    this.#state = this.#judge();
    if (this.#seen() !== was) this.#in.changed();
  }

  /** What readers of the copy are told about it, without the times. */
  #seen(): string {
    return JSON.stringify([this.#state, this.#error, this.#build]);
  }
}

/** Throws an `Error` that says in a few words what is wrong with the answer. */
function parsed(bytes: Buffer): unknown {
  if (!isParsable(bytes, MOST_ROW_DEPTH))
    throw new Error('its answer has more lists and maps than a feed may have');
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
