import { useEffect, useState } from 'react';
import { useRead } from '../lib/reads.ts';
import type { SearchHit, SearchReply } from '../model/wire.ts';

/** A pause in the typing after which the texts are searched. */
const PAUSE_MS = 220;
/** One letter is in nearly every text. */
const LEAST_CHARS = 2;
/** While some texts have not been read yet. */
const AGAIN_MS = 1_000;
const MOST_TEXTS = 20;

export type Texts = {
  hits: readonly SearchHit[];
  busy: boolean;
  /** What has to be said of the search, in the words of the daemon where it refuses. */
  says: string | null;
};

/** What the daemon finds in the texts of fibers for what was typed, after a pause. */
export function useTexts(typed: string): Texts {
  const [asked, setAsked] = useState(typed);
  const [unread, setUnread] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const query = asked.trim();
  const path =
    query.length < LEAST_CHARS ? null : `/search?limit=${MOST_TEXTS}&query=${encodeURIComponent(query)}`;
  const { value, refusal } = useRead<SearchReply>(path, unread ? { every_ms: AGAIN_MS } : {});
  const incomplete = value?.complete === false;
  useEffect(() => setUnread(incomplete), [incomplete]);
  const busy = typed.trim() !== query || (path !== null && value === undefined && refusal === null);
  if (refusal !== null) return { hits: [], busy, says: `The texts were not searched. ${refusal.message}` };
  if (path === null || value === undefined)
    return {
      hits: [],
      busy,
      says: busy && typed.trim().length >= LEAST_CHARS ? 'Searching the texts' : null,
    };
  return { hits: value.hits, busy, says: incomplete ? 'Some texts have not been read yet' : null };
}
