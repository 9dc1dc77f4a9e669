/** Time as a parameter: milliseconds since the Unix epoch, milliseconds by a clock that nobody sets, and timers. */
export type Clock = {
  now(): number;
  /** Only the difference of two readings of one clock means anything. */
  monotonic(): number;
  /** Calls `run` once after `ms`; the returned function cancels. Never keeps the process alive. */
  after(ms: number, run: () => void): () => void;
  /** Calls `run` every `ms`; the returned function cancels. Never keeps the process alive. */
  every(ms: number, run: () => void): () => void;
};

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
  every(ms, run) {
    const timer = setInterval(run, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
};

/** Resolves after `ms` on the given clock. */
export function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}

/** True when `work` settles, false if that takes longer than `ms`; never rejects. The work goes on. */
export function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, () => resolve(false));
    const settle = (): void => {
      cancel();
      resolve(true);
    };
    work.then(settle, settle);
  });
}

/** A wall clock that goes on like the monotonic one for so long is believed. */
const STEADY_MS = 3_600_000;
/** A larger step between two looks is somebody who set it, or a machine that slept. */
const SET_MS = 60_000;

/**
 * Calls `run` every `ms` with the time, unless the clock was set, or this process began to look at it, within the last hour:
 * a clock that is wrong for a while would make old what is not, and what is removed then is gone for good.
 */
export function everySteady(clock: Clock, ms: number, run: (now: number) => void): () => void {
  let since = clock.monotonic();
  let ahead = clock.now() - since;
  return clock.every(ms, () => {
    const [now, monotonic] = [clock.now(), clock.monotonic()];
    if (Math.abs(now - monotonic - ahead) > SET_MS) since = monotonic;
    ahead = now - monotonic;
    if (monotonic - since >= STEADY_MS) run(now);
  });
}

type Timer = { at: number; every: number | null; run: () => void };

/** A clock for tests: its time changes only when `advance` moves it; due timers then run in order. */
export class FakeClock implements Clock {
  #monotonic = 0;
  /** How far the wall clock is ahead of the monotonic one. */
  #ahead: number;
  #timers = new Set<Timer>();

  constructor(start = Date.UTC(2026, 0, 5, 9, 0, 0)) {
    this.#ahead = start;
  }

  now(): number {
    return this.#monotonic + this.#ahead;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  after(ms: number, run: () => void): () => void {
    return this.#add({ at: this.#monotonic + ms, every: null, run });
  }

  every(ms: number, run: () => void): () => void {
    return this.#add({ at: this.#monotonic + ms, every: ms, run });
  }

  /** Moves time forward, firing each timer at its own moment. */
  advance(ms: number): void {
    const end = this.#monotonic + ms;
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#monotonic = Math.max(this.#monotonic, due.at);
      if (due.every === null) this.#timers.delete(due);
      else due.at += due.every;
      due.run();
    }
    this.#monotonic = end;
  }

  /** Sets the wall clock without firing anything: an operator or NTP moved it. */
  jumpTo(now: number): void {
    this.#ahead = now - this.#monotonic;
  }

  #add(timer: Timer): () => void {
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }
}
