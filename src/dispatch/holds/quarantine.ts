/** Why a fiber waits for a person before the poller may start it. */
export type HoldReason = 'boot_quarantine' | 'killed' | 'server_lost' | 'not_concluded';

/** Holds that are put on one fiber. */
export type NamedHold = 'killed' | 'server_lost';

/**
 * Holds of the dispatcher. A restart is not authority to start: until released, every candidate that was
 * not seen running since the start of this daemon is held. A worker that a person killed, or that went down
 * with the multiplexer server, is held by name until released, dispatched by force, or armed anew.
 * Keys are fiber keys; times are milliseconds.
 */
export class Quarantine {
  #released_at: number | null = null;
  #seen = new Set<string>();
  #named = new Map<string, NamedHold>();
  #since = new Map<string, number>();

  get active(): boolean {
    return this.#released_at === null;
  }

  get released_at(): number | null {
    return this.#released_at;
  }

  /** Why this fiber is held, or null. */
  holdOf(key: string): HoldReason | null {
    const named = this.#named.get(key);
    if (named !== undefined) return named;
    return this.active && !this.#seen.has(key) ? 'boot_quarantine' : null;
  }

  /** Its worker runs under this daemon's eyes: continuing it is no fresh start. */
  sawRunning(key: string): void {
    this.#seen.add(key);
    this.#named.delete(key);
    this.#since.delete(key);
  }

  hold(key: string, reason: NamedHold): void {
    this.#named.set(key, reason);
    this.#since.delete(key);
  }

  /** The fiber is no longer armed: arming it again is a new authority. */
  forget(key: string): void {
    this.#named.delete(key);
    this.#since.delete(key);
  }

  /** When this hold was first reported; stable until it ends. */
  since(key: string, now: number): number {
    const known = this.#since.get(key);
    if (known !== undefined) return known;
    this.#since.set(key, now);
    return now;
  }

  /** Lifts every hold. */
  release(now: number): void {
    this.#released_at = now;
    this.#named.clear();
    this.#since.clear();
  }
}
