import { CodedError, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { type Hold, type HoldFiles, NAMED_HOLDS } from '../../config/hold-files.ts';

/** Why a fiber waits for a person before the poller may start it. */
export const HOLD_REASONS = ['boot_quarantine', ...NAMED_HOLDS, 'loop_breaker', 'not_concluded'] as const;
export type HoldReason = (typeof HOLD_REASONS)[number];

/** What is written of a hold on one fiber. */
export type NewHold = Omit<Hold, 'note'> & Partial<Pick<Hold, 'note'>>;

/**
 * Holds of the dispatcher. A restart is not authority to start: until released, every candidate that was not seen
 * running since the start of this daemon is held; of a daemon that has never started a worker, only what ran elsewhere. A
 * fiber whose worker a person killed or ended from inside, or whose
 * worker went down with the multiplexer server, is held by name, across restarts, until a person starts or resumes it,
 * or it is closed. Keys are fiber keys; times are milliseconds.
 */
export class Quarantine {
  readonly #files: HoldFiles;
  readonly #logger: Logger;
  /** No daemon has started a worker from this data folder before. */
  readonly first_start: boolean;
  #released_at: number | null = null;
  /** Fibers that the start of this daemon does not hold: seen running, or let go by a person. */
  #free = new Set<string>();
  #named = new Map<string, Hold>();
  /** Holds that are not on disk yet. */
  #unwritten = new Set<string>();
  #since = new Map<string, number>();
  /** Why the holds of earlier daemons are not known; null when they are. */
  #unread: unknown = null;

  constructor(options: { files: HoldFiles; logger: Logger; now: number; first_start?: boolean }) {
    this.#files = options.files;
    this.#logger = options.logger;
    this.first_start = options.first_start ?? false;
    this.#load(options.now);
  }

  get active(): boolean {
    return this.#released_at === null;
  }

  get released_at(): number | null {
    return this.#released_at;
  }

  /** Why this fiber is held, or null; `has_run`: its document says that a worker was started for it. */
  holdOf(key: string, has_run = true): HoldReason | null {
    const named = this.#named.get(key);
    if (named !== undefined) return named.reason;
    if (!this.active || this.#free.has(key) || (this.first_start && !has_run)) return null;
    return 'boot_quarantine';
  }

  /** The hold on this fiber by name, or null. */
  namedHoldOf(key: string): Hold | null {
    return this.#named.get(key) ?? null;
  }

  /** The holds on single fibers, by fiber key. */
  get named(): ReadonlyMap<string, Hold> {
    return this.#named;
  }

  /** A held fiber was seen in this store. */
  place(key: string, store: string): void {
    const hold = this.#named.get(key);
    if (hold === undefined || hold.store === store) return;
    this.#named.set(key, { ...hold, store });
    this.#write(key);
  }

  /**
   * The worker of this start runs under this daemon, so that continuing it is no fresh start. A worker that was
   * started after the hold lifts it; one that was to be killed stays held if it survives.
   */
  sawRunning(key: string, launch_id: string): void {
    this.#free.add(key);
    this.#since.delete(key);
    const hold = this.#named.get(key);
    if (hold === undefined) return;
    if (hold.reason !== 'killed' || hold.launch_id !== launch_id) this.forget(key);
  }

  /** Holds one fiber; answers why that lasts only until the daemon ends, a sentence with the fix, or null. */
  hold(key: string, hold: NewHold): string | null {
    this.#named.set(key, { note: null, ...hold });
    this.#since.delete(key);
    return this.#write(key);
  }

  /** Retries the writes that failed before. */
  writeAgain(): void {
    for (const key of this.#unwritten) this.#write(key);
  }

  /** A person lets this one fiber start: nothing holds it any more. */
  allow(key: string): void {
    this.#free.add(key);
    this.forget(key);
  }

  /** Lifts the hold by name, as for a fiber that is closed: arming it again is a new authority. */
  forget(key: string): void {
    this.#since.delete(key);
    this.#unwritten.delete(key);
    if (!this.#named.delete(key)) return;
    try {
      this.#files.remove(key);
    } catch (error) {
      this.#logger.warn(
        { err: error, folder: this.#files.folder },
        'the file of a lifted hold cannot be removed; its fiber is held again when the daemon is restarted',
      );
    }
  }

  /** Since when it is held: what is on disk says it, else when it was first reported. */
  since(key: string, now: number): number {
    const known = this.#named.get(key)?.at ?? this.#since.get(key);
    if (known !== undefined) return known;
    this.#since.set(key, now);
    return now;
  }

  /**
   * Lifts what the start of this daemon holds, and no hold on one fiber. Throws `storage_unavailable` while the holds of
   * earlier daemons cannot be read, since a fiber that a person killed might be started.
   */
  release(now: number): void {
    if (this.#unread !== null) this.#load(now);
    if (this.#unread !== null)
      throw new CodedError(
        'storage_unavailable',
        `which fibers a person killed is not known, so nothing is released: ${this.#files.folder} cannot be read (${messageOf(this.#unread)}); fix that and try again`,
        { details: { path: this.#files.folder }, cause: this.#unread },
      );
    this.#released_at = now;
    this.#since.clear();
  }

  #load(now: number): void {
    try {
      for (const [key, hold] of this.#files.readAll(now))
        if (!this.#named.has(key) && !this.#free.has(key)) this.#named.set(key, hold);
      this.#unread = null;
    } catch (error) {
      this.#unread = error;
      this.#logger.error({ err: error, folder: this.#files.folder }, 'the holds on fibers cannot be read');
    }
  }

  #write(key: string): string | null {
    const hold = this.#named.get(key);
    if (hold === undefined) return null;
    try {
      this.#files.write(key, hold);
      this.#unwritten.delete(key);
      return null;
    } catch (error) {
      if (!this.#unwritten.has(key))
        this.#logger.error({ err: error, folder: this.#files.folder }, 'a hold cannot be written');
      this.#unwritten.add(key);
      return `it is held only until the daemon ends: ${this.#files.explain(error)}, and the hold is written with the next tick`;
    }
  }
}
