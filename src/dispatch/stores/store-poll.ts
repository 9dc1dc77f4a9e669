import { join, relative } from 'node:path';
import { backoffDelay } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { CodedError, isCoded, messageOf } from '../../base/errors.ts';
import { freeBytes } from '../../base/free-bytes.ts';
import type { Logger } from '../../base/logger.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import type { StoreHealth } from '../../contract/http/state.ts';
import { FIBERS_FOLDER } from '../../fibers/fiber-id.ts';
import { proveStore, type StoreDisks } from '../../fibers/prove-store.ts';
import {
  addReadings,
  decodeReading,
  decodeSweep,
  encodePaths,
  type Reading,
  type SweepResult,
} from '../../fibers/sweep-result.ts';
import { pathOfToken } from '../../fibers/sweep-table.ts';
import type { PoolCaller } from '../../threads/pool-caller.ts';
import type { Came } from './folder-hints.ts';

/** Reads a store elsewhere, so that a stuck disk stops a pool thread and not the poller. */
export type StoreReader = Pick<PoolCaller, 'run'>;

/** Follows one listing. */
export type OnListing = {
  /** A listing begins from its start; one that was cut short goes on where it was. */
  begins?(): void;
  /** Rows that were read, while other threads still read. */
  rows?(rows: readonly FiberDocument[]): void;
};
type ReadJob = 'sweep_store' | 'read_documents';

/** New documents and folders that one job looks at; what is left is shared by all threads of the pool. */
const MOST_NEW = 1_000;
/** Jobs of one listing at a time: as many as keep the pool busy, and few enough that other jobs are not kept waiting. */
const MOST_JOBS = 8;
/** Paths that one job is given at least: enough that a job is worth its messages. */
const LEAST_SHARE = 16;

/** A store that keeps answering late is asked less and less often: a stuck disk holds a thread at every try. */
const RETRY = { first: 1_000, most: 300_000 };
/** A document whose parse was ended is tried again, for it may be the machine that was slow; each try costs a thread. */
const PARSE_RETRY = { first: 60_000, most: 3_600_000 };

/** A document whose parse had to be ended; it is parsed again when its file changes, or after `until`. */
type SetAside = { token: string; ended: number; until: number };

/**
 * The listing of one store, tick after tick (DSP-1): a listing that fails or times out leaves the last-known
 * rows in place and says so.
 */
export class StorePoll {
  readonly root: string;
  readonly #pool: StoreReader;
  readonly #disks: StoreDisks;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #follow: () => boolean;
  #table: Uint8Array = new Uint8Array(0);
  #health: StoreHealth;
  #failures = 0;
  #is_away = false;
  /** By a timer, and not by the time that it is: a clock can be turned back. */
  #is_waiting = false;
  #running: Promise<SweepResult | null> | null = null;
  /** What a listing that was cut short has read, and what it had still to read. */
  #unfinished: { first: SweepResult; readings: Reading[]; left: string[] } | null = null;
  /** By path below `.fibers`. */
  readonly #set_aside = new Map<string, SetAside>();

  constructor(options: {
    root: string;
    pool: StoreReader;
    disks: StoreDisks;
    clock: Clock;
    logger: Logger;
    /** Whether documents may be links out of the store, asked again for each listing. */
    follow?: () => boolean;
  }) {
    this.root = options.root;
    this.#disks = options.disks;
    this.#pool = options.pool;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#follow = options.follow ?? (() => false);
    this.#health = {
      store: options.root,
      state: 'cold',
      fibers: 0,
      last_ok_at: null,
      last_ms: null,
      error: null,
    };
  }

  get health(): StoreHealth {
    return this.#health;
  }

  /**
   * One listing, or null when it failed or is not to be tried yet; two callers share one. It fails when one of its jobs
   * exceeds `deadline_ms`; the next one then goes on with what is left.
   */
  sweep(deadline_ms: number, onListing: OnListing = {}): Promise<SweepResult | null> {
    if (this.#running !== null) return this.#running;
    if (this.#is_waiting) return Promise.resolve(null);
    this.#running = this.#sweep(deadline_ms, onListing).finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  /** The next listing is tried, however short a time ago the last one failed. */
  tryAgain(): void {
    this.#is_waiting = false;
  }

  /** Whether the disk answers: one that does not costs no thread, and is asked again in the background. */
  async #answers(): Promise<boolean> {
    const proof = await proveStore(this.#disks, this.root, { follow: this.#follow() });
    if (proof === 'silent') this.#silent();
    return proof === 'answers';
  }

  /** Whether the last listing was refused at once, as where the disk is not mounted: that costs nothing to ask again. */
  get isAway(): boolean {
    return this.#is_away;
  }

  /** Whether the store can be listed, or answers too late to tell. */
  async isThere(deadline_ms: number): Promise<boolean> {
    if (!(await this.#answers())) return false;
    return this.look(new Map(), deadline_ms).then(
      () => true,
      (error) => !isRefused(error),
    );
  }

  /** What lies at and below these paths, read by a thread of the pool; what is gone is left out. */
  async look(paths: ReadonlyMap<string, Came>, deadline_ms: number): Promise<Reading> {
    const base = join(this.root, FIBERS_FOLDER);
    const asked = [...paths].map(([path, kind]) => `${relative(base, path)}${kind === 'folder' ? '/' : ''}`);
    return decodeReading(await this.#read('read_documents', encodePaths(asked), deadline_ms));
  }

  /** How many documents the store has by now. */
  count(fibers: number): void {
    this.#health = { ...this.#health, fibers };
  }

  /** What the last listing found was found in order again, without another one. */
  found(): void {
    this.#health = { ...this.#health, last_ok_at: this.#clock.now() };
  }

  async #sweep(deadline_ms: number, onListing: OnListing): Promise<SweepResult | null> {
    const started = this.#clock.now();
    if (!(await this.#answers())) return null;
    try {
      const result = await this.#list(deadline_ms, onListing);
      if (result.table !== null) {
        freeBytes(this.#table);
        this.#table = result.table;
      }
      this.#forget(result.removed);
      this.#succeeded(result, started);
      return result;
    } catch (error) {
      if (isRefused(error)) this.#away(messageOf(error));
      else this.#failed(messageOf(error));
      return null;
    }
  }

  async #list(deadline_ms: number, { begins, rows }: OnListing): Promise<SweepResult> {
    if (this.#unfinished === null) {
      begins?.();
      const first = decodeSweep(await this.#read('sweep_store', this.#table, deadline_ms));
      if (first.unread.length === 0) return first;
      this.#unfinished = { first, readings: [], left: first.unread };
      rows?.(first.changed);
    }
    const { first, readings } = this.#unfinished;
    await this.#readLeft(this.#unfinished, async (paths) => {
      const reading = decodeReading(await this.#read('read_documents', encodePaths(paths), deadline_ms));
      readings.push(reading);
      rows?.(reading.changed);
      return reading.unread;
    });
    this.#unfinished = null;
    return addReadings(first, readings);
  }

  /** After each failure a job is given less, so that a slow disk is listed in the end. */
  get #most_new(): number {
    return Math.max(LEAST_SHARE, Math.floor(MOST_NEW / 2 ** this.#failures));
  }

  /** Several jobs at a time, until nothing is left; what a failed job was given stays left. */
  async #readLeft(
    unfinished: { left: string[] },
    read: (paths: readonly string[]) => Promise<string[]>,
  ): Promise<void> {
    const jobs = new Set<Promise<void>>();
    const failures: unknown[] = [];
    const begin = () => {
      const share = Math.min(
        this.#most_new,
        Math.max(LEAST_SHARE, Math.ceil(unfinished.left.length / MOST_JOBS)),
      );
      const paths = unfinished.left.splice(0, share);
      const leave = (left: readonly string[]) => {
        unfinished.left = unfinished.left.concat(left);
      };
      const job = read(paths)
        .then(leave, (error) => {
          leave(paths);
          failures.push(error);
        })
        .finally(() => jobs.delete(job));
      jobs.add(job);
    };
    for (;;) {
      while (failures.length === 0 && unfinished.left.length > 0 && jobs.size < MOST_JOBS) begin();
      if (jobs.size === 0) break;
      await Promise.race(jobs);
    }
    if (failures.length > 0) throw failures[0];
  }

  /** One job; again without each document whose parse had to be ended, so that all others are listed. */
  async #read(job: ReadJob, bulk: Uint8Array, deadline_ms: number): Promise<Uint8Array> {
    for (;;) {
      const set_aside = [...this.#set_aside.values()]
        .filter((one) => this.#waits(one))
        .map(({ token }) => token);
      const reach = { follow: this.#follow(), answering: this.#disks.answering() };
      const input = { root: this.root, ...reach, set_aside, most_new: this.#most_new };
      try {
        const done = await this.#pool.run(job, input, { bulk: new Uint8Array(bulk), deadline_ms });
        if (done.bulk === null)
          throw new CodedError('internal', `the pool answered ${job} without its bytes`);
        return done.bulk;
      } catch (error) {
        if (!this.#setAside(error)) throw error;
      }
    }
  }

  /** True when the error names a document that is not set aside yet. */
  #setAside(error: unknown): boolean {
    const token = isCoded(error) ? error.details.step : undefined;
    if (typeof token !== 'string') return false;
    const path = pathOfToken(token);
    const before = this.#set_aside.get(path);
    const again = before?.token === token;
    if (again && this.#waits(before)) return false;
    const ended = again ? before.ended + 1 : 1;
    const until = this.#clock.now() + backoffDelay(PARSE_RETRY, ended);
    this.#set_aside.set(path, { token, ended, until });
    this.#logger.warn({ store: this.root, path, detail: messageOf(error) }, 'a document is not parsed');
    return true;
  }

  /** A time further away than any wait is one that a clock turned back has left. */
  #waits({ until }: SetAside): boolean {
    const left = until - this.#clock.now();
    return left > 0 && left <= PARSE_RETRY.most;
  }

  #forget(removed: readonly string[]): void {
    for (const path of removed) this.#set_aside.delete(relative(join(this.root, FIBERS_FOLDER), path));
  }

  #succeeded(result: SweepResult, started: number): void {
    const now = this.#clock.now();
    const first = result.errors[0];
    const more = result.errors.length - 1;
    const error =
      first === undefined ? null : `${first.path}: ${first.message}${more > 0 ? ` (and ${more} more)` : ''}`;
    this.#health = { ...this.#health, state: 'ok', last_ok_at: now, last_ms: now - started, error };
    this.#failures = 0;
    this.#is_away = false;
  }

  #silent(): void {
    const message = `the disk of ${this.root} does not answer; it is retried automatically`;
    if (this.#health.error !== message)
      this.#logger.warn({ store: this.root }, 'the disk of a store does not answer');
    this.#unlisted(message);
  }

  #unlisted(error: string): void {
    const state = this.#health.last_ok_at === null ? 'cold' : 'stale';
    this.#health = { ...this.#health, state, error };
  }

  #away(message: string): void {
    if (!this.#is_away || this.#health.error !== message)
      this.#logger.warn({ store: this.root, detail: message }, 'a store is away');
    this.#is_away = true;
    this.#unfinished = null;
    this.#unlisted(message);
  }

  #failed(message: string): void {
    this.#failures += 1;
    this.#is_away = false;
    this.#is_waiting = true;
    this.#clock.after(backoffDelay(RETRY, this.#failures), () => {
      this.#is_waiting = false;
    });
    this.#unlisted(message);
    this.#logger.warn(
      { store: this.root, failures: this.#failures, detail: message },
      'a store could not be listed',
    );
  }
}

function isRefused(error: unknown): boolean {
  return isCoded(error, 'store_unavailable');
}
