import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import { messageOf, systemCode } from '../base/errors.ts';
import { runForRequest } from '../base/request-scope.ts';
import { inotifyLimit } from '../platform/inotify-limits.ts';

/** Watches a store's folders. Events are only hints; the result of a sweep counts. */
export type StoreWatch = {
  /** Number of watched folders. */
  readonly watched: number;
  /** Why changes in some folders are noticed only by polling; null if all are watched. */
  readonly degraded: string | null;
  /** Whether every folder of the last `update` that exists is watched by now. */
  readonly complete: boolean;
  /** Watches exactly these folders; resolves when all of them are watched, with whether any was not before. */
  update(folders: readonly string[]): Promise<boolean>;
  /** Watches further folders, at once. */
  add(folders: readonly string[]): void;
  /** Ends the watch of these folders. */
  drop(folders: readonly string[]): void;
  /** Whether the kernel may have lost events since the last call. */
  lostEvents(): boolean;
  close(): void;
};

/** Called with the folder of an event; `replaced`: the folder itself may have been moved, removed or made again. */
export type OnHint = (folder: string, replaced: boolean) => void;

/** A watcher that knows its folder, so that all share their listeners: closures would take a fifth of their memory. */
type FolderWatcher = FSWatcher & { folder: string };

/** Maximum number of watches: each takes about 1 kB of the kernel's memory and 1 kB of this process. */
const MAX_WATCHES = 150_000;
/** The share of the system's limit of watches that one store may use: all programs of the user share it. */
const SHARE = 0.75;
/** Folders whose watches begin in one turn of the event loop; each takes about 10 µs. */
const WATCHES_PER_TURN = 2_000;
const NOT_PERSISTENT = { persistent: false };
/** The kernel's default for the events that it queues for a process. */
const QUEUED_EVENTS = 16_384;

/**
 * Watches each folder on its own (a recursive watch loses events silently) and calls `onHint` for each event. Never
 * throws: a failure only means fewer hints.
 */
export function watchStore(onHint: OnHint, options: { maxWatches?: number } = {}): StoreWatch {
  const most = options.maxWatches ?? mostWatches();
  const watchers = new Map<string, FolderWatcher>();
  let wanted: readonly string[] = [];
  let pending = false;
  let degraded: string | null = null;
  let closed = false;
  let losses = eventCount.losses;

  const stop = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  function hear(this: FolderWatcher, event: string, name: string | null): void {
    if (closed) return;
    eventCount.add();
    // The kernel tells of the folder itself without a name; Node then gives the name of the folder.
    onHint(this.folder, event === 'rename' && name === basename(this.folder));
  }
  function fail(this: FolderWatcher, error: Error): void {
    degraded = `${this.folder}: ${messageOf(error)}`;
    stop(this.folder);
  }
  /** False if no more folders can be watched. */
  const begin = (folder: string): boolean => {
    if (watchers.size >= most) {
      degraded = `only ${most} folders are watched, of ${Math.max(wanted.length, most + 1)}`;
      return false;
    }
    try {
      // It outlives the request that may have asked for the store.
      const watcher = runForRequest(undefined, () => watch(folder, NOT_PERSISTENT));
      watchers.set(folder, Object.assign(watcher, { folder }).on('change', hear).on('error', fail));
      return true;
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return true;
      degraded = `${folder}: ${messageOf(error)}`;
      return systemCode(error) === 'EACCES';
    }
  };
  const update = async (next: readonly string[]): Promise<boolean> => {
    wanted = next;
    pending = true;
    if (watchers.size > 0) {
      const kept = new Set(next);
      for (const folder of [...watchers.keys()]) if (!kept.has(folder)) stop(folder);
    }
    degraded = null;
    let begun = 0;
    for (const folder of next) {
      if (watchers.has(folder)) continue;
      if (begun > 0 && begun % WATCHES_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
      // A later call does the rest.
      if (closed || wanted !== next) return true;
      if (!watchers.has(folder) && !begin(folder)) return true;
      begun += 1;
    }
    pending = false;
    return begun > 0;
  };
  return {
    get watched() {
      return watchers.size;
    },
    get degraded() {
      return degraded;
    },
    get complete() {
      return !pending && degraded === null;
    },
    update,
    add(further) {
      for (const folder of further) if (!closed && !watchers.has(folder) && !begin(folder)) return;
    },
    drop(former) {
      for (const folder of former) stop(folder);
    },
    lostEvents() {
      const lost = eventCount.losses !== losses;
      losses = eventCount.losses;
      return lost;
    },
    close() {
      closed = true;
      for (const folder of [...watchers.keys()]) stop(folder);
    },
  };
}

function mostWatches(): number {
  const limit = inotifyLimit('max_user_watches');
  return limit === null ? MAX_WATCHES : Math.min(MAX_WATCHES, Math.floor(limit * SHARE));
}

/**
 * Counts the events of all watches of this thread, which share one queue of the kernel. A full queue drops events, and
 * Node does not tell: but then all that it held arrives in one turn of the event loop.
 */
class EventCount {
  losses = 0;
  #in_turn = 0;
  /** A quarter of the queue, since events of a watch that has ended meanwhile are not seen here. */
  readonly #most = (inotifyLimit('max_queued_events') ?? QUEUED_EVENTS) / 4;

  add(): void {
    if (this.#in_turn === 0) setImmediate(() => this.#endTurn());
    this.#in_turn += 1;
  }

  #endTurn(): void {
    if (this.#in_turn >= this.#most) this.losses += 1;
    this.#in_turn = 0;
  }
}

const eventCount = new EventCount();
