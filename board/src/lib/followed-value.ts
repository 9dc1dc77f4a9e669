import { useSyncExternalStore } from 'react';

/** A value of the page that components follow. */
export class FollowedValue<T> {
  #value: T;
  #watching = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get(): T {
    return this.#value;
  }

  set(next: T): void {
    this.#value = next;
    for (const run of this.#watching) run();
  }

  readonly watch = (run: () => void): (() => void) => {
    this.#watching.add(run);
    return () => this.#watching.delete(run);
  };
}

/** What `of` makes of the value, for a component; the same result renders nothing again. */
export function useValue<T, R>(value: FollowedValue<T>, of: (value: T) => R): R {
  return useSyncExternalStore(value.watch, () => of(value.get()));
}
