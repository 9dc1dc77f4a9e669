/** A bound on the bytes that all connections of a server hold together for one purpose. */
export class MemoryBudget {
  readonly #most: number;
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** False where there is not so much left; then nothing was taken. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#most) return false;
    this.#held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }
}

/** What one holder has of a budget. */
export class BudgetShare {
  readonly #budget: MemoryBudget;
  #bytes = 0;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  /** Makes it `bytes` in all, if they are more; false where the budget does not have them. */
  growTo(bytes: number): boolean {
    if (bytes <= this.#bytes) return true;
    if (!this.#budget.take(bytes - this.#bytes)) return false;
    this.#bytes = bytes;
    return true;
  }

  /** Gives all of it back; doing it again does nothing. */
  release(): void {
    this.#budget.give(this.#bytes);
    this.#bytes = 0;
  }
}
