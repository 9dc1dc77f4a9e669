import type { Clock } from '../base/clock.ts';

/**
 * Wall-clock time that never jumps by itself: it is read when `look` is called, and a monotonic clock counts on from
 * there. In milliseconds since the Unix epoch.
 */
export class SteadyTime {
  readonly #clock: Pick<Clock, 'now'>;
  /** Milliseconds since any moment. */
  readonly #monotonic: () => number;
  #wall = 0;
  #at = 0;

  constructor(clock: Pick<Clock, 'now'>, monotonic: () => number) {
    this.#clock = clock;
    this.#monotonic = monotonic;
    this.look();
  }

  look(): void {
    this.#wall = this.#clock.now();
    this.#at = this.#monotonic();
  }

  now(): number {
    return this.#wall + this.#monotonic() - this.#at;
  }
}
