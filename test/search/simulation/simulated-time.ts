import type { Clock } from '../../../src/base/clock.ts';

/** Where a simulation begins, in milliseconds since the Unix epoch. */
const START = Date.UTC(2026, 0, 5, 9, 0, 0);

type Timer = { at: number; order: number; run: () => void };

/**
 * The one time of a simulation. Nothing in it waits for the time of this machine: a timer fires when `advance` reaches
 * it, and what it started runs to its end before the next one fires.
 */
export class SimulatedTime {
  #now = START;
  #order = 0;
  #timers: Timer[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    this.#order += 1;
    const timer = { at: this.#now + Math.max(0, ms), order: this.#order, run };
    let place = this.#timers.length;
    while (place > 0 && this.#timers[place - 1]!.at > timer.at) place -= 1;
    this.#timers.splice(place, 0, timer);
    return () => {
      const index = this.#timers.indexOf(timer);
      if (index !== -1) this.#timers.splice(index, 1);
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(ms, resolve);
    });
  }

  /** Moves time forward by `ms`. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (;;) {
      const next = this.#timers[0];
      if (next === undefined || next.at > end) break;
      this.#timers.shift();
      this.#now = next.at;
      next.run();
      await settle();
    }
    this.#now = end;
  }
}

/** A host's own clock: the one time, as far off as `skew` says, with timers that only fire `inside` its process. */
export function hostClock(
  time: SimulatedTime,
  host: { skew(): number; inside(run: () => void): void },
): Clock {
  return {
    now: () => time.now() + host.skew(),
    monotonic: () => time.now(),
    after: (ms, run) => time.after(ms, () => host.inside(run)),
    every(ms, run) {
      let cancel = () => {};
      const again = () => {
        cancel = time.after(ms, () => {
          again();
          host.inside(run);
        });
      };
      again();
      return () => cancel();
    },
  };
}

/** Resolves once everything that can run without a timer has run. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
