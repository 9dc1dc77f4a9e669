import { everySteady } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import { runForRequest } from '../base/request-scope.ts';
import type { StoreHealth } from '../contract/http/state.ts';
import type { StoreIndex } from '../fibers/store-index.ts';
import { watchStore } from '../fibers/watch.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Memory } from './holds/memory.ts';
import { RemovedFibers } from './holds/removed-fibers.ts';
import type { Rows } from './rows.ts';
import { prunePastSessions } from './run-directory/past-session-retention.ts';
import type { PollHealth } from './state-view.ts';
import { PolledStore } from './stores/polled-store.ts';
import type { StoreDocuments } from './stores/store-documents.ts';
import type { StoreLeases } from './stores/store-leases.ts';
import { StoreListings } from './stores/store-listings.ts';
import type { StorePoll } from './stores/store-poll.ts';
import type { World } from './world/world.ts';

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
const DAY_MS = 24 * 60 * 60 * 1000;
/** How often runs, past sessions and captures that are over are looked at, to remove old ones. */
const PRUNE_MS = 60 * 60 * 1000;

export type PollLoopOptions = {
  world: World;
  index: StoreIndex;
  documents: StoreDocuments;
  /** The stores to poll, looked up again at every tick. */
  roots(): readonly string[];
  /** Takes up what moved of the operator files, also of those on the disk of another machine. */
  lookAtFiles(): Promise<void>;
  /** The poll of one store. */
  pollOf(root: string): StorePoll;
  leases: Pick<StoreLeases, 'look' | 'keep'>;
  memory: Pick<Memory, 'runs' | 'brake' | 'data_dir' | 'quarantine' | 'unconcluded'>;
  dispatcher: Dispatcher;
  rows: Rows;
  /** Told of a store that was listed for the first time. */
  onFirstListing?(root: string): void;
  /** Watches the folders of a store. */
  watch?: typeof watchStore;
  /** The ticks from one listing of a watched store of so many folders to the next. */
  ticksBetween?: (folders: number) => number;
};

/**
 * The rhythm of the poller: a full tick every interval is the truth; file-system hints and multiplexer
 * notices only shorten the wait.
 */
export class PollLoop {
  readonly #options: PollLoopOptions;
  readonly #removed: RemovedFibers;
  readonly #listings: StoreListings;
  #moved = new Set<string>();
  #cancels: (() => void)[] = [];
  #movedTimer: (() => void) | null = null;
  #tickTimer: { at: number; cancel: () => void } | null = null;
  #ticking: Promise<void> | null = null;
  #watching: Promise<void> | null = null;
  #again = false;
  #whole = false;
  #stopped = false;
  #unanswered_at = 0;
  #last_tick_at: number | null = null;
  #last_tick_ms: number | null = null;
  #last_moved_at = 0;
  #ticks = 0;

  constructor(options: PollLoopOptions) {
    this.#options = options;
    this.#removed = new RemovedFibers(options.memory);
    const { world, documents, leases, rows, onFirstListing } = options;
    this.#listings = new StoreListings({
      roots: () => options.roots(),
      open: (root) => this.#follow(root),
      onRoots: (roots) => documents.setRoots(roots),
      async onListed(root, first) {
        await leases.look(root);
        if (first) onFirstListing?.(root);
      },
      onLate: () => {
        rows.refreshAll(this.#listings.healths);
        this.#wakeTick(URGENT_MS);
      },
      onError: (error) => this.#report(error),
      listing_timeout_ms: world.settings.listing_timeout_ms,
      clock: world.clock,
    });
    this.#listings.followRoots();
  }

  /** Takes the list of stores as it is now, and lists what is new with a tick. */
  takeUpStores(): void {
    this.#listings.followRoots();
    this.#options.rows.refreshAll(this.#listings.healths);
    void this.tick();
  }

  /** Lists one store now, and starts what is due in it; throws `store_not_found` for one that is not polled. */
  async sweep(root: string): Promise<StoreHealth> {
    const health = await this.#listings.listNow(root);
    if (health === null)
      throw new CodedError(
        'store_not_found',
        `this daemon does not work on a store ${root}; those that it works on: svc status --verbose`,
      );
    this.#options.rows.refreshAll(this.#listings.healths);
    void this.tick();
    return health;
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
      stores: this.#listings.healths,
    };
  }

  /** Begins ticking; resolves when the first tick, which starts at once, and a first look at all workers are over. */
  async start(): Promise<void> {
    const { world, dispatcher } = this.#options;
    const watchSurfaces = () => this.#watchSurfaces();
    const sweepMemory = () => world.workerMemory.sweep(dispatcher.launchIds(), world.clock.now());
    const prune = (now: number) => {
      const removed = world.runDirectories.prune(now);
      try {
        prunePastSessions(world.settings.data_dir, dispatcher.listing, now);
      } catch (error) {
        this.#report(error);
      }
      for (const { captures } of Object.values(dispatcher.surfaces)) captures.removeOld(now);
      if (removed > 0) world.logger.info({ removed }, 'removed the directories of old runs');
    };
    this.#cancels.push(
      world.clock.every(world.settings.poll_interval_ms, () => void this.tick()),
      world.clock.every(WATCH_MS, () => void this.#watch()),
      world.clock.every(DAY_MS, sweepMemory),
      everySteady(world.clock, PRUNE_MS, prune),
      world.clock.every(APP_MS, watchSurfaces),
      world.app?.onChange(watchSurfaces) ?? (() => {}),
      // A fiber that was refused for its disk, and a store that could not be listed, wait for this.
      world.disks.onAnswer(() => this.#wakeTick(URGENT_MS)),
      world.mux.onChange(() => void dispatcher.reconcile().catch((error) => this.#report(error))),
    );
    await this.tick();
    await this.#watch();
    sweepMemory();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const cancel of this.#cancels) cancel();
    this.#movedTimer?.();
    this.#tickTimer?.cancel();
    this.#listings.close();
    await this.#watching;
    await this.#ticking;
  }

  /** One tick; a call during a tick makes one more follow it. With `whole` it lists every store. */
  tick(options: { whole?: boolean } = {}): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    this.#whole ||= options.whole === true;
    if (this.#ticking !== null) {
      this.#again = true;
      return this.#ticking;
    }
    // What it starts is for all fibers, whichever request asked for it.
    this.#ticking = runForRequest(undefined, () => this.#tick())
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
    this.#listings.followRoots();
    const whole = this.#whole;
    this.#whole = false;
    this.#lookAtDataDir();
    await this.#listings.list({ whole, patient: this.#ticks === 0 });
    this.#removed.look(this.#options.index, this.#listings.stores);
    this.#keepLeases();
    rows.refreshAll(this.#listings.healths);
    await dispatcher.reconcile().finally(() => rows.lookedAtWorkers(this.#listings.healths));
    this.#watchSurfaces();
    await dispatcher.rounds.startDue();
    await dispatcher.watchActivity();
    rows.refreshAll(this.#listings.healths);
    this.#last_tick_at = world.clock.now();
    this.#last_tick_ms = this.#last_tick_at - started;
    this.#ticks += 1;
  }

  #watchSurfaces(): void {
    void this.#options.dispatcher.watchSurfaces().catch((error) => this.#report(error));
  }

  #follow(root: string): PolledStore {
    const { world, index, documents, dispatcher, rows, watch = watchStore, ticksBetween } = this.#options;
    return new PolledStore({
      ...{ index, documents, watch, ticksBetween },
      ...{ clock: world.clock, logger: world.logger, disks: world.disks },
      poll: this.#options.pollOf(root),
      deadline_ms: world.settings.listing_timeout_ms,
      interval_ms: world.settings.poll_interval_ms,
      onNew: (paths) => rows.documentsMoved(paths),
      onFollowed: (moved, { went, listing }) => {
        for (const path of moved) this.#moved.add(path);
        if (this.#moved.size > 0) this.#wakeMoved();
        if (went) void dispatcher.reconcile().catch((error) => this.#report(error));
        this.#wakeTick(listing ? URGENT_MS : LAZY_MS);
      },
    });
  }

  /** Documents that moved may now be due: that takes no listing. */
  #wakeMoved(): void {
    const { clock } = this.#options.world;
    if (this.#stopped) return;
    const wait = leftOf(URGENT_MS, this.#last_moved_at, clock.now());
    const start = () => {
      this.#movedTimer = null;
      this.#last_moved_at = clock.now();
      const moved = this.#moved;
      this.#moved = new Set();
      void this.#options.dispatcher.rounds.startMoved(moved).catch((error) => this.#report(error));
    };
    this.#movedTimer ??= runForRequest(undefined, () => clock.after(wait, start));
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
    // A fault of one must not keep the others from looking.
    await dispatcher.watchStarts().catch((error) => this.#report(error));
    await dispatcher.watchPhases().catch((error) => this.#report(error));
    this.#lookAtDataDir();
    await this.#options.lookAtFiles();
    if (!this.#listings.followsAll) this.#wakeTick(URGENT_MS);
    this.#options.rows.refreshStale(this.#listings.healths);
  }

  #lookAtDataDir(): void {
    const { brake, data_dir, quarantine } = this.#options.memory;
    quarantine.writeAgain();
    data_dir.look();
    brake.look();
  }

  /** A store that is polled no more keeps its lease while workers of ours run in it. */
  #keepLeases(): void {
    const running = this.#options.memory.runs.all().map((run) => run.store);
    this.#options.leases.keep(new Set([...this.#listings.stores.map((store) => store.root), ...running]));
  }

  #report(error: unknown): void {
    this.#options.world.logger.error({ err: error }, 'a poll step failed');
  }
}

/** What is left at `now` of a wait of `ms` since `since`; nothing where the clock was turned back meanwhile. */
function leftOf(ms: number, since: number, now: number): number {
  return since > now ? 0 : Math.max(0, since + ms - now);
}
