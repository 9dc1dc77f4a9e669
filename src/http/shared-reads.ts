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
  /** False for an answer that only those may have who waited for it, such as a refusal. */
  mayStand(answer: R): boolean;
  /** Runs a step once everything that has arrived by now has been taken in; `setImmediate` for the event loop. */
  afterArrivals(step: () => void): void;
  /** Runs a step in so many milliseconds. */
  after(ms: number, step: () => void): void;
  /** Milliseconds, rising. */
  now(): number;
};

/** Hundreds may wait for one answer, and each costs a write: after this many milliseconds other work has its turn. */
const DELIVERY_MS = 1;

/** Answers that stand at one time; one more is for those alone who waited for it. */
const MOST_STANDING = 1_000;

type Waiting<S, R> = { sharers: S[]; compute: Computation<S, R>; stands_ms: number };

type Lane<S, R> = { running: boolean; waiting: Waiting<S, R> | null };

type Standing<R> = { answer: R; until: number };

/**
 * Reads of the same thing share an answer: who comes while one is computed waits for the next one. Of each key at most
 * one computation runs and one waits, however many ask; there are no more lanes than requests that wait. Nobody is given
 * an answer that is older than the question, except one that stands, which is at most `stands_ms` old, and younger than
 * the last `outdate`.
 */
export class SharedReads<S extends Sharer, R> {
  readonly #options: SharedReadsOptions<S, R>;
  readonly #lanes = new Map<string, Lane<S, R>>();
  #standing = new Map<string, Standing<R>>();

  constructor(options: SharedReadsOptions<S, R>) {
    this.#options = options;
  }

  /**
   * The answer to `key`: one that stands, or one from a computation that begins after this call and stands for
   * `stands_ms` from there. `compute` is that of the first who asks.
   */
  join(key: string, sharer: S, compute: Computation<S, R>, stands_ms = 0): void {
    const standing = this.#standing.get(key);
    if (standing !== undefined && this.#options.now() < standing.until) {
      this.#options.answered(sharer, standing.answer);
      return;
    }
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = { running: false, waiting: null };
      this.#lanes.set(key, lane);
    }
    if (lane.waiting !== null) {
      lane.waiting.sharers.push(sharer);
      return;
    }
    lane.waiting = { sharers: [sharer], compute, stands_ms };
    if (!lane.running) this.#beginSoon(key, lane);
  }

  /** What was computed or began to be computed before this stands no longer. */
  outdate(): void {
    this.#standing = new Map();
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
    const { answered, failed, now } = this.#options;
    const until = now() + waiting.stands_ms;
    const standing = this.#standing;
    const fail = (error: unknown) => ended((sharer) => failed(sharer, error));
    const answer = (value: R) => {
      this.#stand(standing, key, { answer: value, until });
      ended((sharer) => answered(sharer, value));
    };
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

  /** `among`: the answers that stood when this one was begun; they are others once those were outdated. */
  #stand(among: Map<string, Standing<R>>, key: string, standing: Standing<R>): void {
    const { now, after, mayStand } = this.#options;
    const ms = standing.until - now();
    if (ms <= 0 || among !== this.#standing || !mayStand(standing.answer)) return;
    if (among.size >= MOST_STANDING && !among.has(key)) return;
    among.set(key, standing);
    after(ms, () => {
      if (among.get(key) === standing) among.delete(key);
    });
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
