import type { Clock } from '../base/clock.ts';
import type { TimeBase } from '../contract/recorder.ts';

/**
 * Wall-clock time that never jumps by itself: it is read when `look` is called, and a monotonic clock counts on from
 * there. In milliseconds since the Unix epoch.
 */
export class SteadyTime {
  readonly #clock: Pick<Clock, 'now'>;
  /** Milliseconds since any moment. */
  readonly #monotonic: () => number;
  #base: TimeBase = { wall: 0, monotonic: 0 };

  constructor(clock: Pick<Clock, 'now'>, monotonic: () => number) {
    this.#clock = clock;
    this.#monotonic = monotonic;
    this.look();
  }

  look(): void {
    this.#base = { wall: this.#clock.now(), monotonic: this.#monotonic() };
  }

  get base(): TimeBase {
    return this.#base;
  }

  now(): number {
    return this.#base.wall + this.#monotonic() - this.#base.monotonic;
  }
}
