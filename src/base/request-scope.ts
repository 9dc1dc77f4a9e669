import { AsyncLocalStorage } from 'node:async_hooks';

const storage = new AsyncLocalStorage<string | undefined>();

/**
 * Id of the request that the running code works for, or undefined. Each call to another thread carries it along, and
 * every line of the log has it.
 */
export function requestScope(): string | undefined {
  return storage.getStore();
}

/** Runs what belongs to a request, and to none where `id` is undefined; what it awaits and starts belongs to it too. */
export function runForRequest<T>(id: string | undefined, run: () => T): T {
  return storage.run(id, run);
}
