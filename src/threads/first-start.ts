import type { Clock } from '../base/clock.ts';
import { within } from '../base/clock.ts';
import { createDeferred } from '../base/deferred.ts';
import { lateAnswer, tooManyCalls, unavailable } from './calls.ts';

/** The calls that came before the first start of a component has ended, well or not. */
export class FirstStart {
  readonly #component: string;
  readonly #clock: Clock;
  readonly #bound: number;
  readonly #over = createDeferred<void>();
  #isOver = false;
  #waiting = 0;

  constructor(component: string, clock: Clock, bound: number) {
    this.#component = component;
    this.#clock = clock;
    this.#bound = bound;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Its first life is ready, or has ended. */
  end(): void {
    this.#isOver = true;
    this.#over.resolve();
  }

  /**
   * Waits for the end of the first start; returns what is left of `deadline_ms`. Throws `component_unavailable` once the
   * first start is over, `queue_full` and `deadline_exceeded`.
   */
  async wait(call: string, deadline_ms: number): Promise<number> {
    if (this.#isOver) throw unavailable(this.#component);
    if (this.#waiting >= this.#bound) throw tooManyCalls(this.#component, this.#bound);
    const from = this.#clock.now();
    this.#waiting += 1;
    await within(this.#clock, deadline_ms, this.#over.promise);
    this.#waiting -= 1;
    if (!this.#isOver) throw lateAnswer(this.#component, call, deadline_ms);
    return Math.max(1, deadline_ms - Math.max(0, this.#clock.now() - from));
  }
}
