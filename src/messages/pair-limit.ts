import { CodedError } from '../base/errors.ts';

const HOUR_MS = 3_600_000;

/** Counts the messages between two sessions, in both directions, so that two agents cannot answer each other for ever. */
export class PairLimit {
  readonly #most: number;
  /** Times of the last hour's messages by pair. */
  readonly #sent = new Map<string, number[]>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts one message; throws `preflight_failed` for one too many. */
  take(from: string, to: string, now: number): void {
    const pair = [from, to].toSorted().join(' ');
    for (const [key, times] of this.#sent) {
      const recent = times.filter((at) => at > now - HOUR_MS);
      if (recent.length === 0) this.#sent.delete(key);
      else this.#sent.set(key, recent);
    }
    const times = this.#sent.get(pair) ?? [];
    if (times.length >= this.#most)
      throw new CodedError(
        'preflight_failed',
        `these two sessions wrote ${times.length} messages to each other within an hour, which looks like a loop; wait, or raise SVC_MESSAGE_PAIR_LIMIT`,
      );
    this.#sent.set(pair, [...times, now]);
  }
}
