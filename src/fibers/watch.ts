import { type FSWatcher, watch } from 'node:fs';
import { messageOf, systemCode } from '../base/errors.ts';

/** Watches a store's folders. Events are only hints; the result of a sweep counts. */
export type StoreWatch = {
  /** Number of watched folders. */
  readonly watched: number;
  /** Why some folders are not watched, so that their changes are noticed only by polling; null if all are watched. */
  readonly degraded: string | null;
  /** Sets the folders to watch until the next sweep. */
  update(folders: readonly string[]): void;
  close(): void;
};

/** Maximum number of watches: each takes kernel memory, and all programs share the system's limit. */
const MAX_WATCHES = 20_000;

/**
 * Watches each folder on its own (a recursive watch loses events silently) and calls `onHint` with the folder of each
 * event. Never throws: a failure only means fewer hints.
 */
export function watchStore(
  folders: readonly string[],
  onHint: (folder: string) => void,
  options: { maxWatches?: number } = {},
): StoreWatch {
  const most = options.maxWatches ?? MAX_WATCHES;
  const watchers = new Map<string, FSWatcher>();
  let degraded: string | null = null;
  let closed = false;

  const stop = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  /** False if the system's limit of watches is reached. */
  const begin = (folder: string): boolean => {
    try {
      const watcher = watch(folder, { persistent: false }, () => {
        if (!closed) onHint(folder);
      });
      watcher.on('error', (error) => {
        degraded = `${folder}: ${messageOf(error)}`;
        stop(folder);
      });
      watchers.set(folder, watcher);
      return true;
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return true;
      degraded = `${folder}: ${messageOf(error)}`;
      return systemCode(error) === 'EACCES';
    }
  };
  const update = (wanted: readonly string[]): void => {
    if (closed) return;
    const set = new Set(wanted);
    for (const folder of [...watchers.keys()]) if (!set.has(folder)) stop(folder);
    degraded = null;
    for (const folder of set) {
      if (watchers.has(folder)) continue;
      if (watchers.size >= most) {
        degraded = `only ${most} of ${set.size} folders are watched`;
        return;
      }
      if (!begin(folder)) return;
    }
  };
  update(folders);
  return {
    get watched() {
      return watchers.size;
    },
    get degraded() {
      return degraded;
    },
    update,
    close() {
      closed = true;
      for (const folder of [...watchers.keys()]) stop(folder);
    },
  };
}
