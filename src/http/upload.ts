import type { ClientRequest } from 'node:http';
import type { Exchange } from './exchange.ts';
import type { BodySink } from './request-body.ts';

/**
 * A body on its way from a client to another host: the client sends no faster than that host takes it. `divert` gives what
 * has come so far, and brings the rest here.
 */
export class Upload implements BodySink {
  /** True once the client has sent all of it. */
  whole = false;
  readonly #exchange: Exchange;
  readonly #stopped = new AbortController();
  /** What came before the request to the other host had begun; nothing more than was on its way then. */
  #early: Uint8Array[];
  #to: ClientRequest | null = null;
  #waits = true;

  constructor(exchange: Exchange, divert: (to: BodySink) => Uint8Array) {
    this.#exchange = exchange;
    this.#early = [divert(this)];
    exchange.pauseBody();
  }

  /** Aborted when the rest of the body is not waited for any more. */
  get stopped(): AbortSignal {
    return this.#stopped.signal;
  }

  /** True while the other host takes no more. */
  get waits(): boolean {
    return this.#waits;
  }

  /** What the client still sends is read, and goes nowhere. */
  stop(): void {
    this.#stopped.abort();
    this.#exchange.resumeBody();
  }

  write(chunk: Uint8Array): void {
    const copy = new Uint8Array(chunk);
    if (this.#to === null) this.#early.push(copy);
    else this.#pass(this.#to, copy);
  }

  end(): void {
    this.whole = true;
    this.#to?.end();
  }

  /** Sends what has come and all that comes. */
  sendTo(request: ClientRequest): void {
    this.#to = request;
    const flow = () => {
      this.#waits = false;
      this.#exchange.resumeBody();
    };
    request.on('drain', flow);
    flow();
    for (const chunk of this.#early) this.#pass(request, chunk);
    this.#early = [];
    if (this.whole) request.end();
  }

  #pass(to: ClientRequest, chunk: Uint8Array): void {
    // What comes after an answer that was given early is read, and goes nowhere.
    if (to.destroyed || chunk.length === 0) return;
    if (to.write(chunk) || this.whole) return;
    this.#waits = true;
    this.#exchange.pauseBody();
  }
}
