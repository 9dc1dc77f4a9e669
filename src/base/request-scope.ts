import { AsyncLocalStorage } from 'node:async_hooks';

type Scope = { id: string | undefined; asked_by: string | undefined };
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
