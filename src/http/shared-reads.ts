/** One of those who share an answer. */
export type Sharer = {
  /** True while it still waits for the answer. */
  readonly open: boolean;
  /** Aborted when it goes away before that. */
  readonly signal: AbortSignal;
};

/** Computes one answer; `signal` is aborted when all who share it have gone away. */
type Computation<S, R> = (shared: { first: S; readonly signal: AbortSignal }) => R | Promise<R>;

type SharedReadsOptions<S extends Sharer, R> = {
  answered(sharer: S, answer: R): void;
  failed(sharer: S, error: unknown): void;
  /** Runs a step once everything that has arrived by now has been taken in; `setImmediate` for the event loop. */
  afterArrivals(step: () => void): void;
  /** Milliseconds, rising. */
  now(): number;
};

/** Hundreds may wait for one answer, and each costs a write: after this many milliseconds other work has its turn. */
const DELIVERY_MS = 1;

type Waiting<S, R> = { sharers: S[]; compute: Computation<S, R> };

type Lane<S, R> = { running: boolean; waiting: Waiting<S, R> | null };

/**
 * Coalesces reads of the same thing: a request that comes while one is computed waits for the next one. Of each key at most
 * one computation runs and one waits, however many ask; there are no more lanes than requests that wait. No answer is
 * older than its question.
 */
export class SharedReads<S extends Sharer, R> {
  readonly #options: SharedReadsOptions<S, R>;
  readonly #lanes = new Map<string, Lane<S, R>>();

  constructor(options: SharedReadsOptions<S, R>) {
    this.#options = options;
  }

  /** Answers `key` from a computation that begins after this call. `compute` is that of the first request. */
  join(key: string, sharer: S, compute: Computation<S, R>): void {
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = { running: false, waiting: null };
      this.#lanes.set(key, lane);
    }
    if (lane.waiting !== null) {
      lane.waiting.sharers.push(sharer);
      return;
    }
    lane.waiting = { sharers: [sharer], compute };
    if (!lane.running) this.#beginSoon(key, lane);
  }

  #beginSoon(key: string, lane: Lane<S, R>): void {
    this.#options.afterArrivals(() => this.#begin(key, lane));
  }

  #begin(key: string, lane: Lane<S, R>): void {
    const { waiting } = lane;
    lane.waiting = null;
    const sharers = waiting?.sharers.filter(({ open }) => open) ?? [];
    const [first] = sharers;
    if (waiting === null || first === undefined) {
      this.#lanes.delete(key);
      return;
    }
    const ended = (tell: (sharer: S) => void) => {
      lane.running = false;
      if (lane.waiting === null) this.#lanes.delete(key);
      else this.#beginSoon(key, lane);
      this.#deliver(sharers, 0, tell);
    };
    const { answered, failed } = this.#options;
    const fail = (error: unknown) => ended((sharer) => failed(sharer, error));
    const answer = (value: R) => ended((sharer) => answered(sharer, value));
    lane.running = true;
    let result: R | Promise<R>;
    try {
      result = waiting.compute(new Shared(first, sharers));
    } catch (error) {
      fail(error);
      return;
    }
    if (result instanceof Promise) result.then(answer, fail);
    else answer(result);
  }

  #deliver(sharers: readonly S[], from: number, tell: (sharer: S) => void): void {
    const { now, afterArrivals } = this.#options;
    const until = now() + DELIVERY_MS;
    for (let index = from; index < sharers.length; index += 1) {
      if (index > from && now() > until) {
        afterArrivals(() => this.#deliver(sharers, index, tell));
        return;
      }
      tell(sharers[index]!);
    }
  }
}

/** Follows the sharers only where the computation asks for its signal: most never do. */
class Shared<S extends Sharer> {
  readonly first: S;
  readonly #sharers: readonly S[];
  #controller: AbortController | null = null;

  constructor(first: S, sharers: readonly S[]) {
    this.first = first;
    this.#sharers = sharers;
  }

  get signal(): AbortSignal {
    if (this.#controller !== null) return this.#controller.signal;
    const controller = new AbortController();
    this.#controller = controller;
    // One whose answer has come is not open either, and aborts no more.
    let left = this.#sharers.length;
    const leave = () => {
      left -= 1;
      if (left === 0) controller.abort();
    };
    for (const { signal } of this.#sharers) {
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
    }
    return controller.signal;
  }
}
