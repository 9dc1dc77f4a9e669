import { AsyncLocalStorage } from 'node:async_hooks';

const storage = new AsyncLocalStorage<string>();
let now: string | undefined;

/**
 * Which request the running code works for: its id, or undefined. Calls to other threads carry it along, and every line
 * of the log has it.
 */
export function requestScope(): string | undefined {
  return now ?? storage.getStore();
}

/** Runs what belongs to a request; everything that it starts belongs to it too, however much later. */
export function runForRequest<T>(id: string, run: () => T): T {
  return storage.run(id, run);
}

/**
 * As `runForRequest`, for the code up to the first `await` alone: costs nothing, which matters where every request of the
 * daemon passes and each promise would have to be followed.
 */
export function runAtOnceForRequest<T>(id: string, run: () => T): T {
  const before = now;
  now = id;
  try {
    return run();
  } finally {
    now = before;
  }
}
