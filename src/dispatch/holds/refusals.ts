import type { BlockedView } from '../../contract/fiber.ts';

export type Refusal = {
  reason: string;
  message: string;
  needs?: 'project_dir';
  screen?: string;
  thread_id?: string;
};

/** Refusals that stand (DSP-5), by fiber key. Times are milliseconds. */
export class Refusals {
  #rows = new Map<string, BlockedView>();

  /** Notes one more refusal; the same reason adds to the count, another one restarts it. */
  record(key: string, refusal: Refusal, now: number, retry_at: number | null): void {
    const earlier = this.#rows.get(key);
    const again = earlier?.reason === refusal.reason;
    this.#rows.set(key, {
      reason: refusal.reason,
      message: refusal.message,
      attempts: again ? earlier.attempts + 1 : 1,
      first_attempted_at: again ? Math.min(earlier.first_attempted_at, now) : now,
      attempted_at: now,
      retry_at,
      ...(refusal.screen === undefined ? {} : { screen: refusal.screen }),
    });
  }

  /** Puts a row in the place of another, counted by the caller. */
  set(key: string, row: BlockedView): void {
    this.#rows.set(key, row);
  }

  get(key: string): BlockedView | undefined {
    return this.#rows.get(key);
  }

  /** A later success, or a document that is no longer armed, clears the row. */
  clear(key: string, reason?: string): void {
    if (reason === undefined || this.#rows.get(key)?.reason === reason) this.#rows.delete(key);
  }

  /** Until when the poller does not try this fiber again; null when it may, as where the clock was turned back since. */
  cooldownOf(key: string, now: number): number | null {
    const row = this.#rows.get(key);
    return row === undefined || row.attempted_at > now ? null : row.retry_at;
  }
}
