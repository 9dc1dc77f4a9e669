import { useEffect, useSyncExternalStore } from 'react';
import { keepValue, keptValue } from './kept-values.ts';

/** Files that were chosen and are not sent yet, kept over reloads; their texts are in `localStorage`. */
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
  void keepValue(name, files.length === 0 ? undefined : [...files]);
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
  const found = await keptValue(name);
  return Array.isArray(found) ? found.filter((one): one is File => one instanceof File) : [];
}
