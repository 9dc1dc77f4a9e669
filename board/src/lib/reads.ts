import { QueryClient, useQuery } from '@tanstack/react-query';
import { type Answer, get } from './api.ts';

/** Answers of the daemon other than the feed; kept for as long as somebody looks at them, and a moment longer. */
const client = new QueryClient({
  defaultOptions: {
    queries: { retry: false, structuralSharing: false, gcTime: 60_000, networkMode: 'always' },
  },
});

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

/** Reads a route below `/api/v1`, and again every so often while somebody looks; null reads nothing. */
export function useRead<T>(path: string | null, { every_ms }: { every_ms?: number } = {}): Read<T> {
  const { data, error, refetch } = useQuery(
    {
      queryKey: [path],
      queryFn: async ({ signal }) => {
        const answer = await get<T>(path ?? '', { signal });
        if (!answer.ok) throw new Refusal(answer);
        return answer.value;
      },
      enabled: path !== null,
      ...(every_ms === undefined ? {} : { refetchInterval: every_ms }),
    },
    client,
  );
  return {
    value: data,
    refusal: error instanceof Refusal ? { code: error.answer.code, message: error.answer.message } : null,
    again: () => void refetch(),
  };
}

/** Reads again whatever begins with this path, as after a write. */
export function readAgain(path: string): void {
  void client.invalidateQueries({
    predicate: ({ queryKey: [key] }) => typeof key === 'string' && key.startsWith(path),
  });
}
