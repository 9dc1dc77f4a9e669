import type { Clock } from '../base/clock.ts';
import { BodyBytes } from './body-bytes.ts';
import { refusal } from './error-reply.ts';
import type { Exchange } from './exchange.ts';
import { BudgetShare, MemoryBudget } from './memory-budget.ts';
import type { Call } from './request-call.ts';

/** Time for a whole body where its row says nothing, in milliseconds. */
export const BODY_TIMEOUT_MS = 30_000;

/**
 * Collects a request body over a buffer of its own. `done` gets all of it; `refused` is called instead, once and as
 * early as it is known, when it is larger than `limit` bytes, has not come whole within `timeout_ms`, or `hasRoom` is
 * false for what has come so far. Neither is called when the client goes away. `length` is what was announced, null
 * where nothing was. `came` sees each piece after it was added. `discard` gives back what has come of a body that nobody
 * waits for any more; `divert` takes it out and has the rest handed to `sink`, under the same rules.
 */
export function collectBody(
  exchange: Exchange,
  rules: {
    length: number | null;
    limit: number;
    timeout_ms: number;
    slow: SlowBodies;
    hasRoom: (bytes: number) => boolean;
  },
  handlers: { done(body: Uint8Array): void; refused(error: Error): void; came?(chunk: Uint8Array): void },
): CollectedBody {
  const { length, limit, timeout_ms, slow, hasRoom } = rules;
  const bytes = new BodyBytes(length);
  let size = 0;
  let sink: BodySink | null = null;
  let awaited = true;
  const settle = () => {
    awaited = false;
    slow.remove(exchange);
  };
  const discard = () => {
    if (awaited && sink === null) bytes.discard();
    settle();
  };
  exchange.readBody((chunk, last) => {
    if (!awaited) return;
    size += chunk.length;
    if (size > limit || (sink === null && !hasRoom(size))) {
      discard();
      handlers.refused(size > limit ? tooLarge(limit) : noMemory());
      return;
    }
    if (sink === null) {
      bytes.add(chunk);
      handlers.came?.(chunk);
    } else sink.write(chunk);
    if (!last || !awaited) return;
    settle();
    if (sink === null) handlers.done(bytes.take());
    else sink.end();
  });
  slow.add(exchange, timeout_ms, () => {
    discard();
    const seconds = Math.round(timeout_ms / 1_000);
    handlers.refused(refusal('request_timeout', `The body was not complete within ${seconds} s.`));
  });
  return {
    discard,
    divert(to) {
      sink = to;
      return bytes.take();
    },
  };
}

export type CollectedBody = { discard(): void; divert(sink: BodySink): Uint8Array };
/** Where a body goes that is not collected; a chunk is only lent. */
export type BodySink = { write(chunk: Uint8Array): void; end(): void };

/** The refusal of a body of more than `limit` bytes. */
export function tooLarge(limit: number): Error {
  return refusal('body_too_large', `The body is larger than the ${limit} bytes this route takes.`, { limit });
}

/** The refusal of a compressed body. */
export function packedBody(): Error {
  return refusal(
    'unsupported_media_type',
    'A compressed body is not read here; send it as it is, without a Content-Encoding.',
  );
}

/** The refusal of a body for which there is no memory now. */
export function noMemory(): Error {
  return refusal(
    'memory_full',
    'Other requests use all the memory that is reserved for bodies; send it again in a moment.',
  );
}

const LOOK_EVERY_MS = 1_000;
/** Well below the ten seconds after which a transport would close a connection without an answer. */
const KEEP_EVERY_LOOKS = 4;

/** Requests whose body has not come whole yet, each with its own time limit. */
export class SlowBodies {
  #clock: Clock;
  #awaited = new Map<Exchange, { until: number; expire: () => void }>();
  #cancel: (() => void) | null = null;
  #looks = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `expire` once, unless the exchange is removed or its client leaves before. */
  add(exchange: Exchange, timeout_ms: number, expire: () => void): void {
    this.#awaited.set(exchange, { until: this.#clock.monotonic() + timeout_ms, expire });
    this.#cancel ??= this.#clock.every(LOOK_EVERY_MS, () => this.#look());
  }

  remove(exchange: Exchange): void {
    this.#awaited.delete(exchange);
  }

  #look(): void {
    const now = this.#clock.monotonic();
    this.#looks += 1;
    for (const [exchange, { until, expire }] of [...this.#awaited]) {
      if (!exchange.open) this.#awaited.delete(exchange);
      else if (until <= now) expire();
      else if (this.#looks % KEEP_EVERY_LOOKS === 0) exchange.keepReading();
    }
    if (this.#awaited.size > 0) return;
    this.#cancel?.();
    this.#cancel = null;
  }
}

/** A body of up to this many bytes needs no budget: so many requests wait at most that they are bounded. */
const SHORT_BODY = 16 * 1024;
/** Bodies above this have a part of the budget of their own, so that documents are taken while they use it up. */
const LONG_BODY = 4 * 1024 * 1024;
const KEPT_FROM_LONG_BODIES = 0.2;

/** The memory that all request bodies have together. */
export class BodyMemory {
  readonly #other: MemoryBudget;
  readonly #long: MemoryBudget;

  constructor(bytes: number) {
    this.#other = new MemoryBudget(bytes * KEPT_FROM_LONG_BODIES);
    this.#long = new MemoryBudget(bytes * (1 - KEPT_FROM_LONG_BODIES));
  }

  /**
   * Takes room for what has come of a body; what was announced is taken at once, so that a body which is let in can be
   * finished. A body that may become long takes from the larger part of the budget alone.
   */
  hasRoomFor(call: Call, bytes: number, most: number): boolean {
    if (bytes <= SHORT_BODY) return true;
    call.body_share ??= new BudgetShare(most > LONG_BODY ? this.#long : this.#other);
    return call.body_share.growTo(bytes);
  }
}
