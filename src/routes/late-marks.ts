import type { Clock } from '../base/clock.ts';

/** Milliseconds between two tries to tell a scribe of marks. */
const TRY_MS = 1_000;
/** Marks that wait at most; the oldest is left to the transcript, which has them all. */
const MOST_WAITING = 100;

/** How one try to tell a scribe went: `later` where it has no session yet. `why` is null if it was told. */
export type Told = { why: string | null; later: boolean };

/** Marks whose scribe cannot be told yet: each is tried again, in order, until its scribe has a session. */
export class LateMarks<M> {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #tell: (mark: M) => Promise<Told>;
  readonly #waiting: M[] = [];
  #is_trying = false;

  constructor(clock: Pick<Clock, 'after'>, tell: (mark: M) => Promise<Told>) {
    this.#clock = clock;
    this.#tell = tell;
  }

  add(mark: M): void {
    this.#waiting.push(mark);
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift();
    if (!this.#is_trying) this.#tryLater();
  }

  #tryLater(): void {
    this.#is_trying = true;
    this.#clock.after(TRY_MS, () => void this.#try());
  }

  async #try(): Promise<void> {
    for (let mark = this.#waiting[0]; mark !== undefined; mark = this.#waiting[0]) {
      const { later } = await this.#tell(mark);
      if (later) return this.#tryLater();
      if (this.#waiting[0] === mark) this.#waiting.shift();
    }
    this.#is_trying = false;
  }
}
