import type { WholeBody } from './pieces.ts';
import type { PreparedReply, StreamedBody } from './prepared-reply.ts';

/** Bytes that are handed to a connection at one time. */
export const SLICE = 256 * 1024;

export type AnswerOptions = {
  /** The answer to a HEAD: no body goes over the wire. */
  head: boolean;
  /** Ends the connection after the answer. */
  close: boolean;
};

/**
 * One request and its one answer, on whatever transport. The transport's own objects must not be touched after the
 * answer is complete or the client has gone; the class that extends this one is the only place that touches them.
 */
export abstract class Exchange {
  readonly id: string;
  /** True until the answer has been given or the client has gone away. */
  open = true;
  /** True once the answer is complete or nobody waits for it. */
  protected settled = false;
  #controller: AbortController | null = null;
  #aborted = false;
  #onSettled: () => void;

  constructor(id: string, onSettled: () => void) {
    this.id = id;
    this.#onSettled = onSettled;
  }

  /** Aborted when the client goes away before the answer is complete. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) this.#controller.abort();
    return this.#controller.signal;
  }

  /** Writes the answer, the first time; later answers and answers to nobody are dropped. */
  answer(reply: PreparedReply, options: AnswerOptions): void {
    if (!this.open) return;
    this.open = false;
    this.write(reply, options);
  }

  /** Ends the connection without an answer. */
  drop(): void {
    if (this.open) this.closeNow();
  }

  /** Hands over the body as it comes; a chunk is only lent. Nothing more is heard when the client goes away. */
  abstract readBody(hear: (chunk: Uint8Array, last: boolean) => void): void;

  /** Called now and then while a body is awaited, so that the transport's own idle time-out stays away. */
  abstract keepReading(): void;

  protected abstract write(reply: PreparedReply, options: AnswerOptions): void;

  protected abstract closeNow(): void;

  /** Resolves when the connection has taken the slice, to true when it was the last; also when the client has gone. */
  protected abstract send(slice: Uint8Array, size: number): Promise<boolean>;

  /** Sends each piece as the connection takes it; the next one is read when it has. The head is written already. */
  protected stream(body: StreamedBody): void {
    this.#pump(body).catch(() => {
      // Half of what was promised is worse than a connection that ends: the client can tell.
      if (!this.settled) this.closeNow();
    });
  }

  async #pump({ size, read }: StreamedBody): Promise<void> {
    let left = size;
    for await (const piece of read()) {
      for (let from = 0; from < piece.length; from += SLICE) {
        if (this.settled) return;
        const slice = piece.subarray(from, Math.min(from + SLICE, piece.length));
        left -= slice.length;
        if (left < 0) throw new Error('more was read than was promised');
        if (await this.send(slice, size)) {
          this.settle();
          return;
        }
      }
    }
    if (!this.settled) throw new Error('less was read than was promised');
  }

  /** The client has gone. */
  protected abort(): void {
    this.open = false;
    this.#aborted = true;
    this.settle();
    this.#controller?.abort();
  }

  protected settle(): void {
    if (this.settled) return;
    this.settled = true;
    this.#onSettled();
  }
}

/** How many bytes a body has on the wire. */
export function byteLength(body: WholeBody | StreamedBody): number {
  if (typeof body === 'string') return Buffer.byteLength(body);
  return 'read' in body ? body.size : body.length;
}
