import { type Clock, sleep } from '../base/clock.ts';
import type { MessageRecord } from './message-record.ts';

/** What a request knows of its message while that waits. */
export type Queued = {
  /** The record once it does not wait any more; never resolves for a message that a stop leaves waiting. */
  delivered: Promise<MessageRecord>;
  /** Resolves after the first attempt, or at once if another message is before it. */
  tried: Promise<void>;
};

type Entry = { record: MessageRecord; deliver(record: MessageRecord): void; try(): void };

/**
 * The messages that wait for their sessions: one queue for each session, so that it gets them one at a time and in
 * their order, and only the first one is tried.
 */
export class SessionQueues {
  readonly #clock: Clock;
  readonly #attempt: (record: MessageRecord) => Promise<MessageRecord>;
  readonly #pause: (record: MessageRecord, sessions: number) => number;
  readonly #queues = new Map<string, Entry[]>();
  #stopped = false;

  constructor(options: {
    clock: Clock;
    /** Tries to give a message to its session; answers with the record that it leaves. Must not throw. */
    attempt(record: MessageRecord): Promise<MessageRecord>;
    /** Milliseconds until the next attempt, while messages wait for so many sessions. */
    pause(record: MessageRecord, sessions: number): number;
  }) {
    this.#clock = options.clock;
    this.#attempt = options.attempt;
    this.#pause = options.pause;
  }

  add(record: MessageRecord): Queued {
    const { promise: delivered, resolve: deliver } = Promise.withResolvers<MessageRecord>();
    const { promise: tried, resolve } = Promise.withResolvers<void>();
    const entry: Entry = { record, deliver, try: resolve };
    const name = queueOf(record);
    const queue = this.#queues.get(name);
    if (queue === undefined) {
      this.#queues.set(name, [entry]);
      void this.#drain(name);
    } else {
      queue.push(entry);
      entry.try();
    }
    return { delivered, tried };
  }

  stop(): void {
    this.#stopped = true;
  }

  async #drain(name: string): Promise<void> {
    const queue = this.#queues.get(name) ?? [];
    for (let head = queue[0]; head !== undefined; head = queue[0]) {
      if (this.#stopped) return;
      head.record = await this.#attempt(head.record);
      head.try();
      if (head.record.state === 'waiting') {
        await sleep(this.#clock, this.#pause(head.record, this.#queues.size));
        continue;
      }
      queue.shift();
      head.deliver(head.record);
    }
    this.#queues.delete(name);
  }
}

/** Context does not wait behind a message that needs an empty composer. */
function queueOf({ address, wake }: MessageRecord): string {
  return wake ? address : `${address} context`;
}
