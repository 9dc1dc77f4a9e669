import { QueryClient, useQuery } from '@tanstack/react-query';
import { ownRead } from '../model/composite.ts';
import { isHeard } from '../model/contact.ts';
import type { Composite } from '../model/wire.ts';
import { type Answer, get } from './api.ts';
import { followed, watchFollowed } from './board.ts';

/** Answers of the daemon other than the feed; kept for as long as somebody looks at them, and a moment longer. */
const client = new QueryClient({
  defaultOptions: {
    queries: { retry: false, structuralSharing: false, gcTime: 60_000, networkMode: 'always' },
  },
});

let heard = true;
/** What was refused while the daemon did not answer is read again once it does. */
watchFollowed(() => {
  const before = heard;
  heard = isHeard(followed().contact);
  if (heard && !before)
    void client.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
});

const NOT_MODIFIED = 304;

class Refusal extends Error {
  readonly answer: Answer<never> & { ok: false };
  constructor(answer: Answer<never> & { ok: false }) {
    super(answer.message);
    this.answer = answer;
  }
}

export type Read<T> = {
  /** Undefined until it was read once; what was last read stays when a later read fails. */
  value: T | undefined;
  refusal: { code: string; message: string } | null;
  /** Reads it again now. */
  again(): void;
};

/** An answer with its entity tag, if it has one. */
type Kept<T> = { value: T; etag: string | null };

/**
 * Reads a route below `/api/v1`, and again every so often while somebody looks; null reads nothing. A value that has not
 * changed since stays the same object.
 */
export function useRead<T>(path: string | null, { every_ms }: { every_ms?: number } = {}): Read<T> {
  const { data, error, refetch } = useQuery(
    {
      queryKey: [path],
      queryFn: async ({ signal }) => {
        const kept = client.getQueryData<Kept<T>>([path]);
        const answer = await get<T>(path ?? '', { signal, etag: kept?.etag ?? null });
        if (!answer.ok) throw new Refusal(answer);
        if (kept !== undefined && answer.status === NOT_MODIFIED) return kept;
        return { value: answer.value, etag: answer.etag };
      },
      enabled: path !== null,
      ...(every_ms === undefined ? {} : { refetchInterval: every_ms }),
    },
    client,
  );
  return {
    value: data?.value,
    refusal: error instanceof Refusal ? { code: error.answer.code, message: error.answer.message } : null,
    again: () => void refetch(),
  };
}

/** The same of a composite. While the host that answers cannot tell its own part, the refusal is that. */
export function useComposite<R>(
  path: string | null,
  options: { every_ms?: number } = {},
): Read<Composite<R>> {
  const read = useRead<Composite<R>>(path, options);
  const own = read.value === undefined ? null : ownRead(read.value).refusal;
  return { ...read, refusal: read.refusal ?? own };
}

/** Reads again whatever begins with this path, as after a write. */
export function readAgain(path: string): void {
  void client.invalidateQueries({
    predicate: ({ queryKey: [key] }) => typeof key === 'string' && key.startsWith(path),
  });
}
