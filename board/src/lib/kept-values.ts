/** The database of the browser in which the page keeps what is too large for `localStorage`, and its one store. */
const DATABASE = 'board';
const STORE = 'files';

/** The value kept under a name; undefined for none, and where the browser keeps nothing. */
export async function keptValue(name: string): Promise<unknown> {
  try {
    return await inStore('readonly', (store) => store.get(name));
  } catch {
    return undefined;
  }
}

/** Keeps a value over reloads in place of the one before; undefined removes it. */
export async function keepValue(name: string, value: unknown): Promise<void> {
  try {
    await inStore('readwrite', (store) =>
      value === undefined ? store.delete(name) : store.put(value, name),
    );
  } catch {
    // A browser that keeps nothing, as in a private window, still shows the page and sends files.
  }
}

async function inStore(
  mode: IDBTransactionMode,
  run: (store: IDBObjectStore) => IDBRequest,
): Promise<unknown> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const database = await done(opening);
  try {
    return await done(run(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('the browser keeps nothing'));
  });
}
