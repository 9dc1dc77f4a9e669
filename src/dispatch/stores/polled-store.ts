import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import type { StoreHealth } from '../../contract/http/state.ts';
import { FIBERS_FOLDER } from '../../fibers/fiber-id.ts';
import { storeAway } from '../../fibers/store-away.ts';
import type { StoreIndex, SweepTicket } from '../../fibers/store-index.ts';
import type { StoreWatch, watchStore } from '../../fibers/watch.ts';
import type { Disks } from '../../platform/disks.ts';
import { type Came, documentOf, FolderHints } from './folder-hints.ts';
import type { StoreDocuments } from './store-documents.ts';
import type { StorePoll } from './store-poll.ts';

/** What a tick itself may take beyond the two intervals after which a store is stale, in milliseconds. */
const SLACK_MS = 5_000;
const LATE = 'its last listing has not come to its end; it goes on by itself';
/** Hints of one burst of changes are taken together, in milliseconds. */
const HINT_SETTLE_MS = 15;
/** How often a store that is away is asked whether it is back, in milliseconds. */
const AWAY_MS = 2_000;
/** Folders and documents that came and are looked at alone; of more, a listing tells. */
const MOST_CAME = 64;
/** How often what came is looked at again because it had folders that were not watched yet. */
const MOST_LOOKS = 8;
/** Documents that no watch covers and that are read at each tick; with more, the whole store is listed. */
const MOST_UNWATCHABLE = 64;
/** A watched store is listed at every n-th tick, n its folders by this. */
const FOLDERS_PER_TICK = 10_000;
/** The most ticks from one listing of a watched store to the next. */
const MOST_TICKS = 10;

export type PolledStoreOptions = {
  poll: StorePoll;
  index: StoreIndex;
  documents: Pick<StoreDocuments, 'refresh' | 'readRow' | 'hasFolder'>;
  disks: Pick<Disks, 'isSilent' | 'reportsChanges'>;
  clock: Clock;
  logger: Logger;
  deadline_ms: number;
  /** From one tick to the next, in milliseconds. */
  interval_ms: number;
  watch: typeof watchStore;
  /** The ticks from one listing to the next for a watched store of so many folders. Default: `ticksBetween`. */
  ticksBetween?: (folders: number) => number;
  /** Told of the paths of new documents while a listing is under way. */
  onNew(paths: readonly string[]): void;
  /** Told of documents whose rows moved; `listing`: a listing must follow soon. */
  onFollowed(moved: readonly string[], followed: { went: boolean; listing: boolean }): void;
};

/**
 * Follows one store: lists it, watches its folders, and looks at what the watches report. While a watch covers every
 * folder, a large store is not listed at every tick.
 */
export class PolledStore {
  readonly root: string;
  readonly #options: PolledStoreOptions;
  readonly #base: string;
  readonly #hints: FolderHints;
  #watch: StoreWatch | null = null;
  /** Folders by hint; true where the folder itself may be another one now. */
  #hinted = new Map<string, boolean>();
  #hintTimer: (() => void) | null = null;
  #awayTimer: (() => void) | null = null;
  readonly #came = new Map<string, Came>();
  readonly #went = new Set<string>();
  #looking = false;
  /** A look failed: none is tried before a listing comes through, since a stuck disk holds a thread at every try. */
  #stalled = false;
  /** Something may have changed that only a listing finds. */
  #must_list = true;
  #ticks_since = 0;
  /** When a tick last found the store in order, by the monotonic clock. */
  #found_at: number | null = null;
  /** When the listing began that is under way, or that was cut short. */
  #since: SweepTicket = 0;
  /** When the last listing began that came to its end. */
  #listed: SweepTicket | null = null;
  #unwatchable: readonly string[] = [];
  #unreadable: ReadonlySet<string> = new Set();
  #reported: string | null = null;
  #closed = false;

  constructor(options: PolledStoreOptions) {
    const { poll, documents, index } = options;
    this.#options = options;
    this.root = poll.root;
    this.#base = join(poll.root, FIBERS_FOLDER);
    this.#hints = new FolderHints(this.#base, {
      refresh: (path) => documents.refresh(path, this.root),
      hasFolder: (folder) => documents.hasFolder(folder, this.root),
      isKnown: (path) => index.getPath(path) !== undefined,
    });
  }

  /** A store that two ticks have not found in order is stale, also while its listing is only slow. */
  get health(): StoreHealth {
    const { poll, clock, interval_ms } = this.#options;
    const { health } = poll;
    if (health.state !== 'ok' || this.#found_at === null) return health;
    if (clock.monotonic() - this.#found_at <= 2 * interval_ms + SLACK_MS) return health;
    return { ...health, state: 'stale', error: health.error ?? LATE };
  }

  /** When the last listing began, where it read every folder and document and the store answers; else null. */
  get listed(): SweepTicket | null {
    const { state, error } = this.#options.poll.health;
    return state === 'ok' && error === null ? this.#listed : null;
  }

  /**
   * One tick: lists the store or, while it is watched and its turn has not come, only looks at what no watch covers.
   * False if the store could not be read.
   */
  async tick(options: { whole: boolean }): Promise<boolean> {
    this.#ticks_since += 1;
    const done = await (options.whole || this.#mustList() ? this.#list() : this.#lookAtUnwatchable());
    if (this.#closed) return false;
    if (!done) {
      this.#must_list = true;
      this.#awaitReturn();
    }
    const { poll, index, clock } = this.#options;
    poll.count(index.count(this.root));
    if (done) {
      this.#found_at = clock.monotonic();
      poll.found();
    }
    return done;
  }

  /** The next tick lists it, however short a time ago that failed. */
  tryAgain(): void {
    this.#options.poll.tryAgain();
  }

  close(): void {
    this.#closed = true;
    this.#hintTimer?.();
    this.#awayTimer?.();
    this.#watch?.close();
  }

  /** No event tells that a disk was mounted or a permission given. */
  #awaitReturn(): void {
    const { clock, poll, deadline_ms } = this.#options;
    if (!poll.isAway) return;
    const ask = async () => {
      const back = await poll.isThere(deadline_ms);
      this.#awayTimer = null;
      if (this.#closed || !poll.isAway) return;
      if (back) this.#listSoon();
      else this.#awaitReturn();
    };
    this.#awayTimer ??= clock.after(AWAY_MS, () => void ask());
  }

  #mustList(): boolean {
    const { ticksBetween: between = ticksBetween } = this.#options;
    if (this.#watch?.lostEvents() !== false) this.#must_list = true;
    return (
      this.#must_list ||
      this.#ticks_since >= between(this.#hints.size) ||
      this.#unwatchable.length > MOST_UNWATCHABLE ||
      !this.#isWatched()
    );
  }

  #isWatched(): boolean {
    const degraded = this.#watch?.degraded ?? null;
    if (degraded !== null && degraded !== this.#reported)
      this.#options.logger.warn({ store: this.root, detail: degraded }, 'some folders are not watched');
    this.#reported = degraded;
    return this.#watch?.complete === true && this.#options.disks.reportsChanges(this.#base);
  }

  async #lookAtUnwatchable(): Promise<boolean> {
    const { poll, deadline_ms } = this.#options;
    // No event tells that a folder above was moved or that a disk was hidden by another.
    if (!(await poll.isThere(deadline_ms))) return this.#list();
    for (const path of this.#unwatchable) this.#came.set(path, 'document');
    this.#lookSoon();
    return true;
  }

  async #list(): Promise<boolean> {
    const { poll, index, documents, deadline_ms } = this.#options;
    this.#must_list = false;
    let resumed = true;
    const result = await poll.sweep(deadline_ms, {
      begins: () => {
        resumed = false;
        this.#since = index.beginSweep();
        this.#hints.beginListing();
      },
      rows: (rows) => {
        if (!this.#closed) this.#options.onNew(index.addNew(rows, this.#since));
      },
    });
    if (result === null || this.#closed) return false;
    const since = this.#since;
    // What it had read before it was cut short may have changed since.
    this.#must_list ||= resumed;
    index.apply(this.root, result, { since, read: (path) => documents.readRow(path, this.root) });
    this.#listed = since;
    this.#ticks_since = 0;
    this.#stalled = false;
    this.#unwatchable = result.unwatchable;
    this.#unreadable = new Set(result.errors.map(({ path }) => path));
    const all_watched = this.#watch?.complete === true && this.#watch.watched === this.#hints.size;
    if (result.folders !== null || !all_watched) this.#watchFolders(this.#hints.listed(result.folders));
    return true;
  }

  /** What happened in a folder between its listing and the begin of its watch is found by one more listing. */
  #watchFolders(folders: readonly string[]): void {
    this.#watch ??= this.#options.watch((folder, replaced) => this.#hint(folder, replaced));
    void this.#watch.update(folders).then((added) => {
      if (added) this.#must_list = true;
    });
  }

  #hint(folder: string, replaced: boolean): void {
    this.#hinted.set(folder, replaced || this.#hinted.get(folder) === true);
    this.#hintTimer ??= this.#options.clock.after(HINT_SETTLE_MS, () => {
      this.#hintTimer = null;
      this.#follow();
    });
  }

  /** Reads what was hinted at, and looks at what came or went. */
  #follow(): void {
    const hinted = this.#hinted;
    this.#hinted = new Map();
    if (this.#isSilent()) {
      this.#must_list = true;
      return;
    }
    if (hinted.get(this.#base) === true) {
      // The watches of the former folders say nothing of those that lie there now.
      void this.#watch?.update([]);
      this.#listSoon();
      return;
    }
    // What changed in a store that is gone as a whole is found once it is back.
    if (this.#isAway()) {
      this.#must_list = true;
      return;
    }
    try {
      const { moved, came, went } = this.#hints.follow(hinted);
      this.#watch?.drop(went);
      for (const [path, kind] of came) this.#came.set(path, kind);
      for (const folder of went) this.#went.add(documentOf(folder));
      this.#tell(moved);
      this.#lookSoon();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** One look at a time: a disk that does not answer holds at most one thread of the pool. */
  #lookSoon(): void {
    if (this.#closed || this.#looking || this.#came.size + this.#went.size === 0) return;
    this.#looking = true;
    this.#lookAtAll()
      .catch((error) => this.#fail(error))
      .finally(() => {
        this.#looking = false;
        this.#lookSoon();
      });
  }

  async #lookAtAll(): Promise<void> {
    for (let looks = 0; this.#came.size > 0; looks += 1) {
      const came = new Map(this.#came);
      this.#came.clear();
      if (this.#stalled || looks >= MOST_LOOKS || came.size > MOST_CAME) {
        this.#listSoon();
        break;
      }
      await this.#lookAt(came);
      if (this.#closed) return;
    }
    // After what came, so that a fiber that was moved is not missing meanwhile.
    const went = [...this.#went];
    this.#went.clear();
    // Of a store that is gone as a whole the rows stay, and the listing says so.
    if (went.length > MOST_CAME || this.#isAway()) this.#listSoon();
    else this.#refresh(went);
    if (went.length > 0) this.#options.onFollowed([], { went: true, listing: false });
  }

  /**
   * What came is read by the pool: a new folder may be a mount whose disk does not answer. A folder that was not
   * watched while it was read is looked at once more, so that nothing of what comes meanwhile is missed.
   */
  async #lookAt(came: ReadonlyMap<string, Came>): Promise<void> {
    const found = await this.#options.poll.look(came, this.#options.deadline_ms);
    if (this.#closed) return;
    const hasRow = new Set(found.changed.map(({ path }) => path));
    const all = found.unread.length === 0 && found.errors.every(({ path }) => hasRow.has(path));
    if (this.#isSilent() || !all) this.#listSoon();
    if (this.#isSilent()) return;
    const added = this.#hints.add(found.folders);
    this.#watch?.add(added);
    this.#refresh(found.changed.filter((row) => this.#isNews(row)).map(({ path }) => path));
    this.#hints.ignore(came.keys());
    if (added.length > 0) for (const [path, kind] of came) this.#came.set(path, kind);
  }

  #isNews({ path, digest, error }: FiberDocument): boolean {
    const known = this.#options.index.getPath(path);
    return known === undefined || known.digest !== digest || known.error !== error;
  }

  #refresh(paths: readonly string[]): void {
    const { documents } = this.#options;
    this.#tell(paths.filter((path) => documents.refresh(path, this.root)));
  }

  #tell(moved: readonly string[]): void {
    // What the last listing says of a document that could not be read may be fixed.
    const listing = moved.some((path) => this.#unreadable.has(path));
    this.#must_list ||= listing;
    this.#options.onFollowed(moved, { went: false, listing });
  }

  #listSoon(): void {
    this.#must_list = true;
    this.#options.onFollowed([], { went: false, listing: true });
  }

  #fail(error: unknown): void {
    this.#options.logger.error({ store: this.root, detail: messageOf(error) }, 'a change was not followed');
    this.#stalled = true;
    this.#listSoon();
  }

  #isAway(): boolean {
    return !this.#options.documents.hasFolder(this.#base, this.root) || storeAway(this.root) !== null;
  }

  #isSilent(): boolean {
    return this.#options.disks.isSilent(this.#base);
  }
}

/** The ticks from one listing to the next for a watched store of so many folders. */
export function ticksBetween(folders: number): number {
  return Math.min(MOST_TICKS, Math.max(1, Math.ceil(folders / FOLDERS_PER_TICK)));
}
