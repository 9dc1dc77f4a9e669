import { type FSWatcher, watch } from 'node:fs';
import { messageOf, systemCode } from '../base/errors.ts';

/** Watches of a store's folders; hints only, a sweep stays the truth. */
export type StoreWatch = {
  /** Folders that are watched now. */
  readonly watched: number;
  /** Why some folders are not watched; null while all are. The store is then found to have changed by polling. */
  readonly degraded: string | null;
  /** Sets the folders to watch, from one sweep to the next. */
  update(folders: readonly string[]): void;
  close(): void;
};

/** Every watch takes kernel memory, and the system has few for all programs together. */
const MAX_WATCHES = 20_000;

/**
 * Watches each folder on its own (a recursive watch loses events silently) and calls `onHint` with the folder in
 * which something happened. Whatever goes wrong only means fewer hints; it never throws.
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
  /** False when the system has no more watches to give. */
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
