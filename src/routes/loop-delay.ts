import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../base/clock.ts';

/** How late the event loop was since it was last asked, in seconds. */
export type LoopDelay = { p50: number; p99: number; max: number };

const RESOLUTION_MS = 10;
/** The measurement wakes the process all the time, so it ends when nobody has asked for this long, in milliseconds. */
const UNASKED_MS = 5 * 60_000;

/** Measures the event loop of its own thread, from the first question on and for as long as somebody asks. */
export class LoopDelayMeter {
  readonly #clock: Clock;
  #histogram: IntervalHistogram | null = null;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Null for the first question after a while. */
  read(): LoopDelay | null {
    this.#cancel();
    this.#cancel = this.#clock.after(UNASKED_MS, () => this.#stop());
    if (this.#histogram === null) {
      this.#histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      this.#histogram.enable();
      return null;
    }
    const histogram = this.#histogram;
    if (histogram.count === 0) return null;
    const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1e3);
    const delay = {
      p50: late(histogram.percentile(50)),
      p99: late(histogram.percentile(99)),
      max: late(histogram.max),
    };
    histogram.reset();
    return delay;
  }

  #stop(): void {
    this.#histogram?.disable();
    this.#histogram = null;
  }
}
