import type { Clock } from '../base/clock.ts';

/** Well below the ten seconds after which the native server closes a connection over which nothing goes. */
const KEEP_EVERY_MS = 4_000;

/** One open-ended answer that is being sent. */
export type OpenStream = {
  /** Called every few seconds, so that the transport's own idle time-out stays away. */
  keep(): void;
  /** Ends the answer where it is. */
  end(): void;
};

/** The open-ended answers of a server, and how many there may be. */
export class OpenStreams {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #open = new Set<OpenStream>();
  #cancel: (() => void) | null = null;

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  hasRoom(): boolean {
    return this.#open.size < this.#most;
  }

  /** Keeps it until the function that is returned is called. */
  add(stream: OpenStream): () => void {
    this.#open.add(stream);
    this.#cancel ??= this.#clock.every(KEEP_EVERY_MS, () => {
      for (const one of this.#open) one.keep();
    });
    return () => {
      this.#open.delete(stream);
      if (this.#open.size > 0) return;
      this.#cancel?.();
      this.#cancel = null;
    };
  }

  endAll(): void {
    for (const stream of [...this.#open]) stream.end();
  }
}
