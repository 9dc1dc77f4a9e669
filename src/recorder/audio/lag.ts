/** Audio over which the lag is looked at, in milliseconds, and the least lag in it that counts. */
const WINDOW_MS = 5_000;
const LEAST_MS = 1_000;

/**
 * Finds out how far the count of samples has fallen behind the clock, as it does where a phone drops audio or counts
 * slowly. Audio that comes late for a moment and then catches up is no lag, so that the least of some seconds counts.
 */
export class Lag {
  #least = Number.POSITIVE_INFINITY;
  #looked = 0;

  /** Takes the lag of one piece of audio; answers the lag to make up for, 0 for none. All in milliseconds. */
  push(lag: number, duration: number): number {
    this.#least = Math.min(this.#least, lag);
    this.#looked += duration;
    if (this.#looked < WINDOW_MS) return 0;
    const least = this.#least;
    this.reset();
    return least >= LEAST_MS ? least : 0;
  }

  reset(): void {
    this.#least = Number.POSITIVE_INFINITY;
    this.#looked = 0;
  }
}
