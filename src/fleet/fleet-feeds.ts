import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Origin } from '../contract/http/composite.ts';
import type { DatedStores } from '../contract/http/config.ts';
import { type Rehearsal, rehearsal } from '../contract/http/rehearsal.ts';
import type { RemoteReset } from '../contract/http/remote-reset.ts';
import type { RemoteState } from '../contract/http/state.ts';
import { type SilentRemote, silenceFault } from '../contract/threads/fleet.ts';
import { SpareMemories } from './bytes-in-place.ts';
import type { FeedTransport } from './feed-transport.ts';
import type { KeptFeeds } from './kept-feeds.ts';
import { type FollowedRemote, unknownHost } from './remote-address.ts';
import type { RemoteCopy } from './remote-copy.ts';
import { RemoteFeed } from './remote-feed.ts';

/** How often it is judged whether copies have become old, and which of them are to be written. */
const LOOK_MS = 1_000;
/** Least time between two writes of one copy, in milliseconds. */
const WRITE_EVERY_MS = 10_000;
/** Copies that are written at one time, so that answers need not wait for many writes. */
const WRITES_AT_ONCE = 8;
/** Remotes that are polled for the first time at one time; their first answers are the longest. */
const BEGUN_AT_ONCE = 8;
/** How long a remote that does not answer its first request delays the next ones, in milliseconds. */
const BEGUN_MS = 100;
/** Changes within this many milliseconds are reported once. */
const TELL_EVERY_MS = 10;

export type FleetFeedsOptions = {
  /** The id of this host, which is not one of its remotes. */
  host: string;
  /** Differs for each start of the thread. */
  nonce: string;
  transport: FeedTransport;
  kept: Pick<KeptFeeds, 'read' | 'write' | 'confirm' | 'keepOnly'>;
  lookUp(name: string): Promise<FollowedRemote | null>;
  restartTunnel(name: string): Promise<boolean>;
  /** Gets the tag of the copies at the start and after their changes; null without a remote. */
  tell(tag: string | null): void;
  /** Gets the remotes that do not answer and whose breaker is tripped, after each change of that. */
  tellSilent(silent: SilentRemote[]): void;
  clock: Clock;
  /** Milliseconds by a clock that nobody sets. */
  monotonic(): number;
  random(): number;
};

type OfRemote = Omit<Origin, 'read'> & { name: string };
/** What changed in the copy of the feed of one remote, as `GET /fibers?since=` answers; `bytes` is null without a copy. */
export type ChangesOfRemote = OfRemote & { bytes: Uint8Array | null };
/** All of such a copy. */
export type CopyOfRemote = OfRemote & {
  copy: Pick<RemoteCopy, 'last_change' | 'whole' | 'lend' | 'rowsWith'> | null;
};

/**
 * The copies of the feeds of all remotes. Their changes are counted together; a tag names all of them and how fresh each
 * is, but for times: the nonce of this process and the number of the last change.
 */
export class FleetFeeds {
  readonly #in: FleetFeedsOptions;
  #feeds = new Map<string, RemoteFeed>();
  /** What is kept of each copy: when it was written or confirmed last, up to which change, and as of when. */
  readonly #kept = new WeakMap<RemoteFeed, { at: number; change: number; last_ok_at: number }>();
  readonly #spares = new SpareMemories();
  #last_change = 0;
  #telling = false;
  /** As they were told last; null before that, for who hears of them may know those of an earlier life of this thread. */
  #silent: SilentRemote[] | null = null;
  readonly #stopLooking: () => void;

  constructor(options: FleetFeedsOptions) {
    this.#in = options;
    this.#stopLooking = options.clock.every(LOOK_MS, () => {
      for (const feed of this.#feeds.values()) feed.look();
      this.#tellSilent();
      const before = options.clock.now() - WRITE_EVERY_MS;
      const due = this.#unkept().filter(({ kept_at }) => kept_at <= before);
      this.#keep(due.sort((a, b) => a.kept_at - b.kept_at).slice(0, WRITES_AT_ONCE));
    });
  }

  /** Follows these remotes, and no others. */
  follow(remotes: readonly FollowedRemote[]): void {
    const feeds = new Map<string, RemoteFeed>();
    const begun: [string, RemoteFeed][] = [];
    for (const remote of remotes) {
      if (remote.name === this.#in.host) continue;
      const known = this.#feeds.get(remote.name);
      const feed = known ?? this.#feedOf(remote);
      feeds.set(remote.name, feed);
      if (known === undefined) begun.push([remote.name, feed]);
      else known.become(remote);
    }
    for (const [name, feed] of this.#feeds) if (!feeds.has(name)) feed.stop();
    this.#feeds = feeds;
    this.#changed();
    this.#in.kept.keepOnly([...feeds.keys()]);
    for (let lane = 0; lane < BEGUN_AT_ONCE; lane += 1) this.#in.clock.after(0, () => this.#begin(begun));
  }

  /** Starts following the first of these remotes, and then the others one after another. */
  #begin(feeds: [string, RemoteFeed][]): void {
    const next = feeds.shift();
    if (next === undefined) return;
    const [name, feed] = next;
    let passed_on = false;
    const passOn = () => {
      if (passed_on) return;
      passed_on = true;
      cancel();
      this.#begin(feeds);
    };
    const cancel = this.#in.clock.after(BEGUN_MS, passOn);
    void feed.begin(this.#in.kept.read(name)).then(passOn);
  }

  /** Null without a remote. */
  get tag(): string | null {
    return this.#feeds.size === 0 ? null : `${this.#in.nonce}-${this.#last_change}`;
  }

  standings(): RemoteState[] {
    return [...this.#feeds.values()].map((feed) => feed.standing());
  }

  /** Of each remote what changed after a tag; null where that tag is none of these copies. */
  since(tag: string): ChangesOfRemote[] | null {
    const change = this.changeOf(tag);
    if (change === null) return null;
    return [...this.#feeds].map(([name, feed]) => ({
      ...{ name, ...feed.origin() },
      bytes: feed.copy?.since(change) ?? null,
    }));
  }

  /** The copy of each remote. */
  copies(): CopyOfRemote[] {
    return [...this.#feeds].map(([name, feed]) => ({ name, ...feed.origin(), copy: feed.copy }));
  }

  /** The build of a remote as it told it last; null where it has not. */
  buildOf(name: string): string | null {
    return this.#feeds.get(name)?.origin().build ?? null;
  }

  /** The stores and projects of each remote that has told them. */
  stores(): Record<string, DatedStores> {
    return Object.fromEntries(
      [...this.#feeds].flatMap(([name, { stores }]) => (stores === null ? [] : [[name, stores]])),
    );
  }

  /** Runs one cascade for a remote now (BRK-1); throws `unknown_host` and `breaker_not_tripped`. */
  reset(name: string, dry_run: boolean): RemoteReset | Rehearsal {
    const feed = this.#feeds.get(name);
    if (feed === undefined) throw unknownHost(name);
    if (dry_run ? feed.standing().breaker !== 'tripped' : !feed.reset())
      throw new CodedError(
        'breaker_not_tripped',
        `The breaker of ${name} is not tripped: it is polled as usual, so there is nothing to reset.`,
        { details: { origin: name } },
      );
    if (dry_run)
      return rehearsal(
        `try ${name} over new connections, then with its tunnel restarted, then at the address of its entry`,
      );
    return { name, reset: true };
  }

  /** Asks a remote whose breaker is tripped, if it was not asked just now. */
  askAgain(name: string): void {
    this.#feeds.get(name)?.askAgain();
  }

  /** Throws for a remote that gets no request now, which is asked anew then; `writes` as in `silenceFault`. */
  refuseSilent(name: string, writes: boolean): void {
    const silent = this.#silence(name);
    if (silent === null) return;
    this.askAgain(name);
    this.#refuse(silent, writes);
  }

  /** Throws for a read of a remote that is not of its pinned build. */
  refuseChanged(name: string): void {
    const silent = this.#silence(name);
    if (silent?.code === 'build_changed') this.#refuse(silent, false);
  }

  #silence(name: string): SilentRemote | null {
    const standing = this.#feeds.get(name)?.standing();
    return standing === undefined ? null : silenceOf(standing);
  }

  #refuse(silent: SilentRemote, writes: boolean): never {
    const { code, message } = silenceFault(silent, this.#in.clock.now(), writes);
    throw new CodedError(code, message, { details: { origin: silent.name } });
  }

  stop(): void {
    this.#stopLooking();
    this.#keep(this.#unkept());
    for (const feed of this.#feeds.values()) feed.stop();
  }

  /** The copies that are newer than what is kept of them, and when that was written; 0 where it never was. */
  #unkept(): { name: string; feed: RemoteFeed; kept_at: number }[] {
    return [...this.#feeds].flatMap(([name, feed]) => {
      const kept = this.#kept.get(feed);
      const isNew = feed.copy !== null && feed.origin().last_ok_at !== kept?.last_ok_at;
      return isNew ? [{ name, feed, kept_at: kept?.at ?? 0 }] : [];
    });
  }

  #keep(feeds: readonly { name: string; feed: RemoteFeed }[]): void {
    for (const { name, feed } of feeds) {
      const { copy } = feed;
      const { last_ok_at } = feed.origin();
      if (copy === null || last_ok_at === null) continue;
      const change = copy.last_change;
      const isKept = this.#kept.get(feed)?.change === change && this.#in.kept.confirm(name, last_ok_at);
      if (!isKept) this.#in.kept.write(name, copy.whole(), last_ok_at);
      this.#kept.set(feed, { at: this.#in.clock.now(), change, last_ok_at });
    }
  }

  #feedOf(remote: FollowedRemote): RemoteFeed {
    const { transport, lookUp, restartTunnel, clock, monotonic, random } = this.#in;
    return new RemoteFeed({
      ...{ remote, transport, lookUp, restartTunnel, clock, monotonic, random },
      spares: this.#spares,
      next: () => this.#last_change + 1,
      changed: () => this.#changed(remote.name),
    });
  }

  /** The number of the last change that a tag names; null for one that is none of these copies. */
  changeOf(tag: string): number | null {
    const prefix = `${this.#in.nonce}-`;
    const change = tag.startsWith(prefix) ? /^\d{1,15}$/.exec(tag.slice(prefix.length)) : null;
    return change !== null && Number(change[0]) <= this.#last_change ? Number(change[0]) : null;
  }

  /** A change of one remote, or of which there are. */
  #changed(name?: string): void {
    this.#last_change += 1;
    const was = this.#silent?.find((one) => one.name === name) ?? null;
    if (name === undefined || !isDeepStrictEqual(this.#silence(name), was)) this.#tellSilent();
    if (this.#telling) return;
    this.#telling = true;
    this.#in.clock.after(TELL_EVERY_MS, () => {
      this.#telling = false;
      this.#in.tell(this.tag);
    });
  }

  #tellSilent(): void {
    const silent = this.standings().flatMap((standing) => silenceOf(standing) ?? []);
    if (isDeepStrictEqual(silent, this.#silent)) return;
    this.#silent = silent;
    this.#in.tellSilent(silent);
  }
}

/** A host that answers, even with a feed that cannot be read, still gets requests: its own answers say what is wrong. */
function silenceOf({ name, breaker, error, last_ok_at }: RemoteState): SilentRemote | null {
  const reason = error?.message ?? '';
  if (error?.code === 'build_changed') return { name, code: error.code, reason, last_ok_at };
  const isSilent = error?.code === 'remote_unreachable' || error?.code === 'misdirected';
  return breaker === 'tripped' && isSilent ? { name, code: 'remote_unreachable', reason, last_ok_at } : null;
}
