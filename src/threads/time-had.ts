import type { ThreadWork } from './thread-work.ts';

/** Looks that came later than so many intervals find this process stalled or stopped, and not the other thread. */
const MOST_INTERVALS = 2;
/** Where the kernel tells nothing of a thread, it may have had only a part of the time that has passed. */
const UNKNOWN_SHARE = 0.1;

/**
 * How much time a thread has had since it last went on with what it was given: time in which it ran or waited for
 * something, as for a disk, and not time in which others had the processor. So a thread that is slow is not taken for one
 * that is stuck.
 */
export class TimeHad {
  readonly #interval_ms: number;
  #ms = 0;
  #last: { at: number; work: ThreadWork | null } | null = null;

  /** It is looked at every `interval_ms`. */
  constructor(interval_ms: number) {
    this.#interval_ms = interval_ms;
  }

  /** The thread went on. */
  reset(): void {
    this.#ms = 0;
    this.#last = null;
  }

  /** The time in milliseconds, of which the first look finds none. `at` is of a clock that nobody sets. */
  look(at: number, work: ThreadWork | null): number {
    if (this.#last !== null) {
      const passed = Math.min(at - this.#last.at, MOST_INTERVALS * this.#interval_ms);
      this.#ms += timeHad(passed, this.#last.work, work);
    }
    this.#last = { at, work };
    return this.#ms;
  }
}

function timeHad(passed: number, before: ThreadWork | null, now: ThreadWork | null): number {
  if (before === null || now === null) return passed * UNKNOWN_SHARE;
  const ran = now.ran_ms - before.ran_ms;
  // The kernel counts a wait for the processor once it is over.
  return now.is_ready ? ran : Math.max(ran, passed - (now.waited_ms - before.waited_ms));
}
