/** Files that were chosen and are not sent yet, kept over reloads; their texts are in `localStorage`. */
const DATABASE = 'board';
const FILES = 'files';

/** The files kept under a name; none where the browser keeps nothing. */
export async function keptFiles(name: string): Promise<readonly File[]> {
  try {
    const database = await open();
    const found = await done(database.transaction(FILES).objectStore(FILES).get(name));
    database.close();
    return Array.isArray(found) ? found.filter((one): one is File => one instanceof File) : [];
  } catch {
    return [];
  }
}

/** Keeps files under a name in place of those before; nothing for none. */
export async function keepFiles(name: string, files: readonly File[]): Promise<void> {
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
