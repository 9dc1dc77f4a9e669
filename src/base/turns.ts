import { Mutex } from './mutex.ts';

/** Runs async sections of one key one at a time, in the order of the calls; those of other keys run beside them. */
export class Turns {
  readonly #turns = new Map<string, { mutex: Mutex; waiting: number }>();

  async run<T>(key: string, section: () => Promise<T>): Promise<T> {
    const turn = this.#turns.get(key) ?? { mutex: new Mutex(), waiting: 0 };
    this.#turns.set(key, turn);
    turn.waiting += 1;
    try {
      return await turn.mutex.run(section);
    } finally {
      turn.waiting -= 1;
      if (turn.waiting === 0) this.#turns.delete(key);
    }
  }
}
