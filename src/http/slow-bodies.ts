import type { Clock } from '../base/clock.ts';
import type { Exchange } from './exchange.ts';

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
    this.#awaited.set(exchange, { until: this.#clock.now() + timeout_ms, expire });
    this.#cancel ??= this.#clock.every(LOOK_EVERY_MS, () => this.#look());
  }

  remove(exchange: Exchange): void {
    this.#awaited.delete(exchange);
  }

  #look(): void {
    const now = this.#clock.now();
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
