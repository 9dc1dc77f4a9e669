import { basename, join } from 'node:path';
import type { StoreIndex } from '../fibers/store-index.ts';
import { type StoreWatch, watchStore } from '../fibers/watch.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Rows } from './rows.ts';
import type { PollHealth } from './state-view.ts';
import type { StoreDocuments } from './store-documents.ts';
import type { StorePoll } from './store-poll.ts';
import type { World } from './world.ts';

/** Hints of one burst of changes are taken together, in milliseconds. */
const HINT_SETTLE_MS = 15;
/** A hint wakes a whole tick, but never sooner after the last one than this, in milliseconds. */
const HINT_TICK_MS = 300;
/** How often processes and unconfirmed starts are looked at, in milliseconds. */
const WATCH_MS = 500;

export type PollLoopOptions = {
  world: World;
  index: StoreIndex;
  documents: StoreDocuments;
  polls: readonly StorePoll[];
  dispatcher: Dispatcher;
  rows: Rows;
};

/**
 * The rhythm of the poller: a full tick every interval is the truth; file-system hints and multiplexer
 * notices only shorten the wait.
 */
export class PollLoop {
  readonly #options: PollLoopOptions;
  #watches = new Map<string, StoreWatch>();
  #hinted = new Map<string, Set<string>>();
  #cancels: (() => void)[] = [];
  #hintTimer: (() => void) | null = null;
  #tickTimer: (() => void) | null = null;
  #ticking: Promise<void> | null = null;
  #again = false;
  #watching = false;
  #stopped = false;
  #last_tick_at: number | null = null;
  #last_tick_ms: number | null = null;
  #ticks = 0;

  constructor(options: PollLoopOptions) {
    this.#options = options;
  }

  get health(): PollHealth {
    return {
      last_tick_at: this.#last_tick_at,
      last_tick_ms: this.#last_tick_ms,
      ticks: this.#ticks,
      stores: this.#options.polls.map((poll) => poll.health),
    };
  }

  /** Begins ticking; the first tick starts at once and is not waited for. */
  start(): void {
    const { world, dispatcher } = this.#options;
    this.#cancels.push(
      world.clock.every(world.settings.poll_interval_ms, () => void this.tick()),
      world.clock.every(WATCH_MS, () => void this.#watch()),
      world.mux.onChange(() => void dispatcher.reconcile().catch((error) => this.#report(error))),
    );
    void this.tick();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const cancel of this.#cancels) cancel();
    this.#hintTimer?.();
    this.#tickTimer?.();
    for (const watch of this.#watches.values()) watch.close();
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
        this.#wakeTick();
      });
    return this.#ticking;
  }

  async #tick(): Promise<void> {
    const { world, polls, dispatcher, rows } = this.#options;
    const started = world.clock.now();
    await Promise.all(polls.map((poll) => this.#list(poll)));
    rows.refreshAll(polls.map((poll) => poll.health));
    await dispatcher.reconcile();
    await dispatcher.launchDue();
    await dispatcher.watchActivity();
    rows.refreshAll(polls.map((poll) => poll.health));
    this.#last_tick_at = world.clock.now();
    this.#last_tick_ms = this.#last_tick_at - started;
    this.#ticks += 1;
  }

  async #list(poll: StorePoll): Promise<void> {
    const { world, index, documents } = this.#options;
    const since = index.beginSweep();
    const result = await poll.sweep(world.settings.listing_timeout_ms);
    if (result === null || this.#stopped) return;
    const read = (path: string) => documents.readRow(path, poll.root);
    index.apply(poll.root, result, { since, read });
    poll.count(index.count(poll.root));
    if (poll.foldersMoved()) this.#watchFolders(poll.root, poll.folders());
  }

  #watchFolders(root: string, folders: readonly string[]): void {
    const known = this.#watches.get(root);
    if (known !== undefined) known.update(folders);
    else
      this.#watches.set(
        root,
        watchStore(folders, (folder) => this.#hint(root, folder)),
      );
  }

  #hint(root: string, folder: string): void {
    const folders = this.#hinted.get(root) ?? new Set();
    this.#hinted.set(root, folders.add(folder));
    this.#hintTimer ??= this.#options.world.clock.after(HINT_SETTLE_MS, () => {
      this.#hintTimer = null;
      this.#followHints();
      this.#wakeTick();
    });
  }

  /** Reads the documents of the folders in which something happened; what else changed there the tick finds. */
  #followHints(): void {
    const { documents } = this.#options;
    for (const [root, folders] of this.#hinted) {
      for (const folder of folders) {
        const path = join(folder, `${basename(folder)}.md`);
        try {
          documents.refresh(path, root);
        } catch (error) {
          this.#report(error);
        }
      }
    }
    this.#hinted.clear();
  }

  #wakeTick(): void {
    if (this.#stopped) return;
    const { clock } = this.#options.world;
    const wait = Math.max(0, (this.#last_tick_at ?? 0) + HINT_TICK_MS - clock.now());
    this.#tickTimer ??= clock.after(wait, () => {
      this.#tickTimer = null;
      void this.tick();
    });
  }

  async #watch(): Promise<void> {
    if (this.#watching || this.#stopped) return;
    this.#watching = true;
    try {
      const { dispatcher } = this.#options;
      if (await dispatcher.someProcessEnded()) await dispatcher.reconcile();
      await dispatcher.watchStarts();
    } catch (error) {
      this.#report(error);
    } finally {
      this.#watching = false;
    }
  }

  #report(error: unknown): void {
    this.#options.world.logger.error({ err: error }, 'a poll step failed');
  }
}
