import { BudgetShare, MemoryBudget } from './memory-budget.ts';
import type { Call } from './request-call.ts';

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
