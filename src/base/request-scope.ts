import { AsyncLocalStorage } from 'node:async_hooks';

const storage = new AsyncLocalStorage<string | undefined>();

/**
 * Id of the request that the running code works for, or undefined. Each call to another thread carries it, and every
 * log line contains it.
 */
export function requestScope(): string | undefined {
  return storage.getStore();
}

/** Runs code for a request, or for none if `id` is undefined; everything that it awaits or starts has the same id. */
export function runForRequest<T>(id: string | undefined, run: () => T): T {
  return storage.run(id, run);
}
