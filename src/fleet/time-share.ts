/** The part of the time of this thread that one host may take in the long run. */
const SHARE = 1 / 20;
/** What it may take at once, in milliseconds. */
const BURST_MS = 50;

/**
 * What the answers of one host may take of the time of this thread, which all hosts share. `monotonic` gives milliseconds
 * by a clock that nobody sets.
 */
export class TimeShare {
  readonly #monotonic: () => number;
  /** Milliseconds that were taken and are not paid for yet, as of a time. */
  #owed = { ms: 0, at: 0 };

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Does something on the account of the host. */
  spend<T>(work: () => T): T {
    const from = this.#monotonic();
    try {
      return work();
    } finally {
      const now = this.#monotonic();
      this.#owed = { ms: this.#owedAt(from) + now - from, at: now };
    }
  }

  /** Milliseconds until the host may take more; 0 for now. */
  get wait_ms(): number {
    return Math.max(0, this.#owedAt(this.#monotonic()) - BURST_MS) / SHARE;
  }

  #owedAt(now: number): number {
    return Math.max(0, this.#owed.ms - (now - this.#owed.at) * SHARE);
  }
}
