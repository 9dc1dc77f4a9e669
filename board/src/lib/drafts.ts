import { useSyncExternalStore } from 'react';

/** Every draft that was asked for, by its key in the storage of the browser; also one that the storage has no room for. */
const drafts = new Map<string, unknown>();
const watching = new Set<() => void>();

// Another window of the board has changed it, or sent it.
addEventListener('storage', ({ key }) => {
  if (key === null) drafts.clear();
  else drafts.delete(key);
  for (const run of watching) run();
});

/** What a person has written and not sent or saved yet, also before a reload; null if there is nothing. */
export function keptDraft<T>(key: string): T | null {
  if (!drafts.has(key)) drafts.set(key, stored(key));
  return drafts.get(key) as T | null;
}

/** The same for a component, which follows it. */
export function useDraft<T>(key: string): T | null {
  return useSyncExternalStore(watch, () => keptDraft<T>(key));
}

/** All of them that the browser keeps, by their keys. */
export function keptDrafts(): [key: string, draft: unknown][] {
  return Object.keys(localStorage).map((key) => [key, keptDraft(key)]);
}

/**
 * Keeps a draft, or forgets it with null; also where no component shows it any more. False if the browser has no room for
 * it, so that a reload would lose it.
 */
export function keepDraft(key: string, draft: unknown): boolean {
  drafts.set(key, draft);
  for (const run of watching) run();
  try {
    if (draft === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

function watch(run: () => void): () => void {
  watching.add(run);
  return () => watching.delete(run);
}

function stored(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null');
  } catch {
    return null;
  }
}
