import { Mutex } from '../../base/mutex.ts';

/** One step after another for each fiber: what a person orders for it is done in the order it came. */
export class FiberTurns {
  readonly #turns = new Map<string, { mutex: Mutex; waiting: number }>();

  async run<T>(key: string, step: () => Promise<T>): Promise<T> {
    const turn = this.#turns.get(key) ?? { mutex: new Mutex(), waiting: 0 };
    this.#turns.set(key, turn);
    turn.waiting += 1;
    try {
      return await turn.mutex.run(step);
    } finally {
      turn.waiting -= 1;
      if (turn.waiting === 0) this.#turns.delete(key);
    }
  }
}
