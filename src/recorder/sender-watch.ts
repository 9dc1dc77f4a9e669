import type { Clock } from '../base/clock.ts';

/** Time without a sender after which the phone counts as lost. */
const LOST_AFTER_MS = 90_000;

/** Says when a phone is lost and back. */
export class SenderWatch {
  readonly #clock: Clock;
  readonly #now: () => number;
  readonly #say: (what: 'lost' | 'back', at: number) => void;
  #lost = false;
  #cancel = () => {};

  /** `now` gives the times that are told, in milliseconds since the Unix epoch; `lost` is told with that of the loss. */
  constructor(clock: Clock, now: () => number, say: (what: 'lost' | 'back', at: number) => void) {
    this.#clock = clock;
    this.#now = now;
    this.#say = say;
  }

  /** There is no sender from now on. */
  gone(): void {
    const since = this.#now();
    this.#cancel();
    this.#cancel = this.#clock.after(LOST_AFTER_MS, () => {
      this.#lost = true;
      this.#say('lost', since);
    });
  }

  connected(): void {
    this.#cancel();
    if (this.#lost) this.#say('back', this.#now());
    this.#lost = false;
  }

  stop(): void {
    this.#cancel();
  }
}
