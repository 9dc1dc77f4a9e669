import { CodedError } from '../base/errors.ts';

/**
 * Runs heavy sections one after another, so that they never hold more than one thread of the pool: the poller’s
 * sweeps need the others. Beyond `most_waiting` a section is refused with `queue_full`.
 */
export class Lane {
  readonly #most_waiting: number;
  #waiting = 0;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(most_waiting: number) {
    this.#most_waiting = most_waiting;
  }

  run<T>(section: () => Promise<T>): Promise<T> {
    if (this.#waiting >= this.#most_waiting)
      throw new CodedError(
        'queue_full',
        'Too many requests of this kind wait already; ask again in a moment.',
      );
    this.#waiting += 1;
    const begin = () => {
      this.#waiting -= 1;
      return section();
    };
    const result = this.#tail.then(begin);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}
