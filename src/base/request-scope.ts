import { AsyncLocalStorage } from 'node:async_hooks';

/** Who is told that a call did not answer in time, while it goes on; null once nobody waits for it any more. */
type Patience = { late: ((error: Error) => void) | null };
type Scope = { id: string | undefined; asked_by: string | undefined; patience?: Patience };
const storage = new AsyncLocalStorage<Scope>();

/**
 * Id of the request that the running code works for, or undefined. Each call to another thread carries it, and every
 * log line contains it.
 */
export function requestScope(): string | undefined {
  return storage.getStore()?.id;
}

/** Who asked for what the running code does, as `runForRequest` was told; undefined for what the daemon does by itself. */
export function requestAskedBy(): string | undefined {
  return storage.getStore()?.asked_by;
}

/** Runs code for a request, or for none if `id` is undefined; everything that it awaits or starts has the same id. */
export function runForRequest<T>(id: string | undefined, run: () => T, asked_by?: string): T {
  return storage.run({ id, asked_by }, run);
}

/** How long the running code waits for calls to other threads: their deadlines end its answer, and not its work, where this is set. */
export function requestPatience(): Patience | undefined {
  return storage.getStore()?.patience;
}

/** Runs work to its end, however late its calls answer: `late` is told of the first call that did not in time. */
export async function runToItsEnd<T>(late: (error: Error) => void, run: () => Promise<T>): Promise<T> {
  const { id, asked_by } = storage.getStore() ?? { id: undefined, asked_by: undefined };
  const patience: Patience = { late };
  try {
    return await storage.run({ id, asked_by, patience }, run);
  } finally {
    // What the work has left running is not waited for.
    patience.late = null;
  }
}
