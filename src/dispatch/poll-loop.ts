import { join } from 'node:path';
import type { StoreIndex } from '../fibers/store-index.ts';
import { type StoreWatch, watchStore } from '../fibers/watch.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Memory } from './holds/memory.ts';
import { prunePastSessions } from './requests/past-session-retention.ts';
import type { Rows } from './rows.ts';
import type { PollHealth } from './state-view.ts';
import { FolderHints, type Followed } from './stores/folder-hints.ts';
import type { StoreDocuments } from './stores/store-documents.ts';
import type { StoreLeases } from './stores/store-leases.ts';
import type { StorePoll } from './stores/store-poll.ts';
import type { World } from './world/world.ts';

/** Hints of one burst of changes are taken together, in milliseconds. */
const HINT_SETTLE_MS = 15;
/** A change that matters wakes the loop, but never sooner after the last time than this, in milliseconds. */
const URGENT_MS = 300;
/** Any other hint is followed by a whole tick no sooner than this after the last one, in milliseconds. */
const LAZY_MS = 10_000;
/** How often processes and unconfirmed starts are looked at, in milliseconds. */
const WATCH_MS = 1_000;
/** How long an ended process is left alone while the multiplexer does not answer, in milliseconds. */
const UNANSWERED_MS = 5_000;
/** How often app conversations are looked at although their server told of no change, in milliseconds. */
const APP_MS = 2_000;
/** Documents that came at once and are looked at alone; of more, the listing that follows tells. */
const MOST_CAME = 64;
const DAY_MS = 24 * 60 * 60 * 1000;

export type PollLoopOptions = {
  world: World;
  index: StoreIndex;
  documents: StoreDocuments;
  /** The stores to poll, looked up anew at every tick. */
  roots(): readonly string[];
  /** The poll of one store. */
  pollOf(root: string): StorePoll;
  leases: Pick<StoreLeases, 'look' | 'keep'>;
  memory: Pick<Memory, 'runs' | 'brake' | 'data_dir'>;
  dispatcher: Dispatcher;
  rows: Rows;
  /** Watches the folders of a store. */
  watch?: typeof watchStore;
};

/**
 * The rhythm of the poller: a full tick every interval is the truth; file-system hints and multiplexer
 * notices only shorten the wait.
 */
export class PollLoop {
  readonly #options: PollLoopOptions;
  #polls: readonly StorePoll[] = [];
  readonly #hints = new Map<string, FolderHints>();
  #watches = new Map<string, StoreWatch>();
  #hinted = new Map<string, Set<string>>();
  /** What waits for the look at a store that is under way; one that failed stays here until a listing comes through. */
  readonly #changes = new Map<string, Followed[]>();
  #moved = new Set<string>();
  #cancels: (() => void)[] = [];
  #hintTimer: (() => void) | null = null;
  #movedTimer: (() => void) | null = null;
  #tickTimer: { at: number; cancel: () => void } | null = null;
  #ticking: Promise<void> | null = null;
  #watching: Promise<void> | null = null;
  #again = false;
  #stopped = false;
  #unanswered_at = 0;
  #last_tick_at: number | null = null;
  #last_tick_ms: number | null = null;
  #last_moved_at = 0;
  #ticks = 0;

  constructor(options: PollLoopOptions) {
    this.#options = options;
    this.#followRoots();
  }

  get polls(): readonly StorePoll[] {
    return this.#polls;
  }

  /** Takes the list of stores as it is now, and lists what is new with a tick. */
  takeUpStores(): void {
    this.#followRoots();
    this.#options.rows.refreshAll(this.#polls.map((poll) => poll.health));
    void this.tick();
  }

  /** A document moved of which no hint told: it may now be due. */
  followMoved(path: string): void {
    this.#moved.add(path);
    this.#wakeMoved();
  }

  get health(): PollHealth {
    return {
      last_tick_at: this.#last_tick_at,
      last_tick_ms: this.#last_tick_ms,
      ticks: this.#ticks,
      stores: this.#polls.map((poll) => poll.health),
    };
  }

  /** Begins ticking; resolves when the first tick, which starts at once, is over. */
  async start(): Promise<void> {
    const { world, dispatcher } = this.#options;
    const watchApps = () => this.#watchApps();
    const prune = () => {
      const removed = world.runDirectories.prune(world.clock.now());
      world.workerMemory.sweep(dispatcher.launchIds(), world.clock.now());
      try {
        prunePastSessions(world.settings.data_dir, dispatcher.listing, world.clock.now());
      } catch (error) {
        this.#report(error);
      }
      if (removed > 0) world.logger.info({ removed }, 'removed the directories of old runs');
    };
    this.#cancels.push(
      world.clock.every(world.settings.poll_interval_ms, () => void this.tick()),
      world.clock.every(WATCH_MS, () => void this.#watch()),
      world.clock.every(DAY_MS, prune),
      world.clock.every(APP_MS, watchApps),
      world.app?.onChange(watchApps) ?? (() => {}),
      // A fiber that was refused for its disk, and a store that could not be listed, wait for this.
      world.disks.onAnswer(() => this.#wakeTick(URGENT_MS)),
      world.mux.onChange(() => void dispatcher.reconcile().catch((error) => this.#report(error))),
    );
    await this.tick();
    prune();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const cancel of this.#cancels) cancel();
    this.#hintTimer?.();
    this.#movedTimer?.();
    this.#tickTimer?.cancel();
    for (const watch of this.#watches.values()) watch.close();
    await this.#watching;
    await this.#ticking;
  }

  /** One tick; a call during a tick makes one more follow it. */
  tick(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    if (this.#ticking !== null) {
      this.#again = true;
      return this.#ticking;
    }
    this.#ticking = this.#tick()
      .catch((error) => this.#report(error))
      .finally(() => {
        this.#ticking = null;
        if (!this.#again) return;
        this.#again = false;
        this.#wakeTick(URGENT_MS);
      });
    return this.#ticking;
  }

  async #tick(): Promise<void> {
    const { world, dispatcher, rows } = this.#options;
    const started = world.clock.now();
    this.#followRoots();
    const polls = this.#polls;
    this.#lookAtDataDir();
    await Promise.all(polls.map((poll) => this.#list(poll)));
    this.#keepLeases();
    rows.refreshAll(this.#polls.map((poll) => poll.health));
    await dispatcher.reconcile();
    this.#watchApps();
    await dispatcher.rounds.startDue();
    await dispatcher.watchActivity();
    rows.refreshAll(this.#polls.map((poll) => poll.health));
    this.#last_tick_at = world.clock.now();
    this.#last_tick_ms = this.#last_tick_at - started;
    this.#ticks += 1;
  }

  #watchApps(): void {
    void this.#options.dispatcher.watchApps().catch((error) => this.#report(error));
  }

  /** Stores that came are polled from now on; of those that went nothing is known any more. */
  #followRoots(): void {
    const { documents, index } = this.#options;
    const roots = this.#options.roots();
    const before = this.#polls;
    if (before.length === roots.length && before.every((poll, at) => poll.root === roots[at])) return;
    this.#polls = roots.map(
      (root) => before.find((poll) => poll.root === root) ?? this.#options.pollOf(root),
    );
    documents.setRoots(roots);
    for (const { root } of before) {
      if (roots.includes(root)) continue;
      this.#watches.get(root)?.close();
      this.#watches.delete(root);
      this.#hints.delete(root);
      this.#hinted.delete(root);
    }
    for (const root of roots) {
      if (this.#hints.has(root)) continue;
      const hints = new FolderHints(join(root, '.fibers'), {
        refresh: (path) => documents.refresh(path, root),
        isKnown: (path) => index.getPath(path) !== undefined,
      });
      this.#hints.set(root, hints);
    }
  }

  async #list(poll: StorePoll): Promise<void> {
    const { world, index, documents } = this.#options;
    const since = index.beginSweep();
    const result = await poll.sweep(world.settings.listing_timeout_ms);
    if (result === null || this.#stopped || !this.#polls.includes(poll)) return;
    const read = (path: string) => documents.readRow(path, poll.root);
    index.apply(poll.root, result, { since, read });
    poll.count(index.count(poll.root));
    if (poll.foldersMoved()) this.#watchFolders(poll.root, poll.folders());
    this.#hints.get(poll.root)?.settled();
    this.#changes.delete(poll.root);
    await this.#options.leases.look(poll.root);
  }

  #watchFolders(root: string, folders: readonly string[]): void {
    this.#hints.get(root)?.listed(folders);
    const known = this.#watches.get(root);
    if (known !== undefined) known.update(folders);
    else {
      const watch = this.#options.watch ?? watchStore;
      this.#watches.set(
        root,
        watch(folders, (folder) => this.#hint(root, folder)),
      );
    }
  }

  #hint(root: string, folder: string): void {
    const folders = this.#hinted.get(root) ?? new Set();
    this.#hinted.set(root, folders.add(folder));
    this.#hintTimer ??= this.#options.world.clock.after(HINT_SETTLE_MS, () => {
      this.#hintTimer = null;
      this.#followHints();
    });
  }

  /** Reads what was hinted at; what came or went is looked at alone, and then confirmed by a listing of the store. */
  #followHints(): void {
    let unlisted = false;
    for (const [root, folders] of this.#hinted) {
      // The next listing that comes through has what moved there.
      if (this.#options.world.disks.isSilent(join(root, '.fibers'))) continue;
      try {
        const followed = this.#hints.get(root)?.follow(folders);
        if (followed === undefined) continue;
        for (const path of followed.moved) this.#moved.add(path);
        if (followed.came.length + followed.went.length === 0) continue;
        unlisted = true;
        void this.#lookAtChanges(root, followed).catch((error) => this.#report(error));
      } catch (error) {
        this.#report(error);
        unlisted = true;
      }
    }
    this.#hinted.clear();
    if (this.#moved.size > 0) this.#wakeMoved();
    this.#wakeTick(unlisted ? URGENT_MS : LAZY_MS);
  }

  /** One look at a store at a time: a disk that does not answer holds at most one thread of the pool. */
  async #lookAtChanges(root: string, followed: Followed): Promise<void> {
    const waiting = this.#changes.get(root);
    if (waiting !== undefined) {
      if (waiting.length < MOST_CAME) waiting.push(followed);
      return;
    }
    const changes = [followed];
    this.#changes.set(root, changes);
    for (let next = changes.shift(); next !== undefined; next = changes.shift())
      await this.#lookAtThese(root, next);
    this.#changes.delete(root);
  }

  /**
   * Documents that came are read by the pool first: a new folder may be a mount whose disk does not answer. Those that
   * went go after those that came, so that a fiber that was moved is not missing meanwhile.
   */
  async #lookAtThese(root: string, { came, went }: Followed): Promise<void> {
    const { documents, world } = this.#options;
    const poll = this.#polls.find((one) => one.root === root);
    if (poll === undefined || came.length + went.length > MOST_CAME) return;
    const found = came.length === 0 ? [] : await poll.find(came, world.settings.listing_timeout_ms);
    if (this.#stopped || world.disks.isSilent(join(root, '.fibers'))) return;
    for (const path of [...found, ...went]) if (documents.refresh(path, root)) this.#moved.add(path);
    if (this.#moved.size > 0) this.#wakeMoved();
  }

  /** Documents that moved may now be due: that takes no listing. */
  #wakeMoved(): void {
    const { clock } = this.#options.world;
    if (this.#stopped) return;
    const wait = leftOf(URGENT_MS, this.#last_moved_at, clock.now());
    this.#movedTimer ??= clock.after(wait, () => {
      this.#movedTimer = null;
      this.#last_moved_at = clock.now();
      const moved = this.#moved;
      this.#moved = new Set();
      void this.#options.dispatcher.rounds.startMoved(moved).catch((error) => this.#report(error));
    });
  }

  /** A tick no sooner than `spacing` after the last; an earlier appointment stands. */
  #wakeTick(spacing: number): void {
    if (this.#stopped) return;
    const { clock } = this.#options.world;
    const at = clock.now() + leftOf(spacing, this.#last_tick_at ?? 0, clock.now());
    if (this.#tickTimer !== null) {
      if (this.#tickTimer.at <= at) return;
      this.#tickTimer.cancel();
    }
    const cancel = clock.after(at - clock.now(), () => {
      this.#tickTimer = null;
      void this.tick();
    });
    this.#tickTimer = { at, cancel };
  }

  #watch(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    this.#watching ??= this.#look()
      .catch((error) => this.#report(error))
      .finally(() => {
        this.#watching = null;
      });
    return this.#watching;
  }

  async #look(): Promise<void> {
    const { dispatcher, world } = this.#options;
    if (
      leftOf(UNANSWERED_MS, this.#unanswered_at, world.clock.now()) === 0 &&
      (await dispatcher.someProcessEnded())
    ) {
      await dispatcher.reconcile();
      if (dispatcher.listing.kind === 'unknown') this.#unanswered_at = world.clock.now();
    }
    await dispatcher.watchStarts();
    await dispatcher.watchPhases();
    if (this.#lookAtDataDir()) this.#options.rows.refreshAll(this.#polls.map((poll) => poll.health));
  }

  /** True when what it says of all fibers has changed. */
  #lookAtDataDir(): boolean {
    const { brake, data_dir } = this.#options.memory;
    const before = [data_dir.fault, brake.pulled === null];
    const after = [data_dir.look(), brake.look() === null];
    return after.some((one, at) => one !== before[at]);
  }

  /** A store that is polled no more keeps its lease while workers of ours run in it. */
  #keepLeases(): void {
    const running = this.#options.memory.runs.all().map((run) => run.store);
    this.#options.leases.keep(new Set([...this.#polls.map((poll) => poll.root), ...running]));
  }

  #report(error: unknown): void {
    this.#options.world.logger.error({ err: error }, 'a poll step failed');
  }
}

/** What is left at `now` of a wait of `ms` since `since`; nothing where the clock was turned back meanwhile. */
function leftOf(ms: number, since: number, now: number): number {
  return since > now ? 0 : Math.max(0, since + ms - now);
}
