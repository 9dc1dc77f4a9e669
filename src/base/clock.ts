/** Time as a parameter: milliseconds since the Unix epoch, and timers. */
export type Clock = {
  now(): number;
  /** Calls `run` once after `ms`; the returned function cancels. Never keeps the process alive. */
  after(ms: number, run: () => void): () => void;
  /** Calls `run` every `ms`; the returned function cancels. Never keeps the process alive. */
  every(ms: number, run: () => void): () => void;
};

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
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

type Timer = { at: number; every: number | null; run: () => void };

/** A clock for tests: its time changes only when `advance` moves it; due timers then run in order. */
export class FakeClock implements Clock {
  #now: number;
  #timers = new Set<Timer>();

  constructor(start = Date.UTC(2026, 0, 5, 9, 0, 0)) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    return this.#add({ at: this.#now + ms, every: null, run });
  }

  every(ms: number, run: () => void): () => void {
    return this.#add({ at: this.#now + ms, every: ms, run });
  }

  /** Moves time forward, firing each timer at its own moment. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#now = Math.max(this.#now, due.at);
      if (due.every === null) this.#timers.delete(due);
      else due.at += due.every;
      due.run();
    }
    this.#now = end;
  }

  /** Sets the wall clock without firing anything: an operator or NTP moved it. */
  jumpTo(now: number): void {
    this.#now = now;
  }

  #add(timer: Timer): () => void {
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }
}
