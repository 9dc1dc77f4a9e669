const PREFIX = 'draft ';

/** What a person has written and not sent or saved yet, as it was kept over a reload; null if there is nothing. */
export function keptDraft<T>(key: string): T | null {
  try {
    const text = localStorage.getItem(PREFIX + key);
    return text === null ? null : (JSON.parse(text) as T);
  } catch {
    return null;
  }
}

/** Keeps a draft, or forgets it with null. False if the browser has no room for it, so that a reload would lose it. */
export function keepDraft(key: string, draft: unknown): boolean {
  try {
    if (draft === null) localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}
