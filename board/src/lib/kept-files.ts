import { useEffect, useSyncExternalStore } from 'react';

/** Files that were chosen and are not sent yet, kept over reloads; their texts are in `localStorage`. */
const DATABASE = 'board';
const FILES = 'files';

const NONE: readonly File[] = [];
/** What was shown under each name last: the same objects for every form, also for one that was closed while it sends. */
const lists = new Map<string, readonly File[]>();
const watching = new Set<() => void>();

/** The files under a name, as they are now. */
export function filesNow(name: string): readonly File[] {
  return lists.get(name) ?? NONE;
}

/** The same for a component, which follows them; what another window has sent is gone when it is shown again. */
export function useKeptFiles(name: string): readonly File[] {
  useEffect(() => {
    const before = filesNow(name);
    void storedFiles(name).then((found) => {
      // Chosen or sent meanwhile, which counts.
      if (filesNow(name) !== before) return;
      become(
        name,
        found.map((file) => before.find((one) => isSame(one, file)) ?? file),
      );
    });
  }, [name]);
  return useSyncExternalStore(watch, () => filesNow(name));
}

/** Shows files under a name in place of those before, and keeps them. */
export function keepFiles(name: string, files: readonly File[]): void {
  become(name, files);
  void storeFiles(name, files);
}

function become(name: string, files: readonly File[]): void {
  lists.set(name, files);
  for (const run of watching) run();
}

function watch(run: () => void): () => void {
  watching.add(run);
  return () => watching.delete(run);
}

function isSame(a: File, b: File): boolean {
  return a.name === b.name && a.size === b.size && a.lastModified === b.lastModified;
}

/** The files stored under a name; none where the browser keeps nothing. */
async function storedFiles(name: string): Promise<readonly File[]> {
  try {
    const database = await open();
    const found = await done(database.transaction(FILES).objectStore(FILES).get(name));
    database.close();
    return Array.isArray(found) ? found.filter((one): one is File => one instanceof File) : [];
  } catch {
    return [];
  }
}

/** Stores files under a name in place of those before; nothing for none. */
async function storeFiles(name: string, files: readonly File[]): Promise<void> {
  try {
    const database = await open();
    const store = database.transaction(FILES, 'readwrite').objectStore(FILES);
    const request: IDBRequest = files.length === 0 ? store.delete(name) : store.put([...files], name);
    await done(request);
    database.close();
  } catch {
    // A browser that keeps nothing, as in a private window, still sends them.
  }
}

function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(FILES);
  return done(request);
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('the browser keeps no files'));
  });
}
