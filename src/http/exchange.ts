import type { HttpResponse } from 'uWebSockets.js';
import { FIRST_HEADER, type PreparedReply } from './prepared-reply.ts';

/** Above this, the body is written as the socket takes it instead of being copied whole. */
const LARGE_BODY = 64 * 1024;
/** Bytes of a large body that are handed over at one time. */
const SLICE = 256 * 1024;

/**
 * One request and its one answer. The library's response object must not be touched after it has ended or
 * the client has gone; this class is the only place that touches it.
 */
export class Exchange {
  readonly id: string;
  /** True until the answer has been given or the client has gone away. */
  open = true;
  /** True while the library has corked the socket for us, that is, in the callback of the request itself. */
  corked = true;
  #response: HttpResponse;
  #controller: AbortController | null = null;
  #settled = false;
  #aborted = false;
  #onSettled: () => void;

  constructor(response: HttpResponse, id: string, onSettled: () => void) {
    this.#response = response;
    this.id = id;
    this.#onSettled = onSettled;
    response.onAborted(() => this.#abort());
  }

  /** Aborted when the client goes away before the answer is complete. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) this.#controller.abort();
    return this.#controller.signal;
  }

  /** Writes the answer, the first time; later answers and answers to nobody are dropped. */
  answer(reply: PreparedReply, options: { head: boolean; close: boolean }): void {
    if (!this.open) return;
    this.open = false;
    if (this.corked) this.#write(reply, options);
    else this.#response.cork(() => this.#write(reply, options));
  }

  /** Ends the connection without an answer. */
  drop(): void {
    if (!this.open) return;
    this.#response.close();
  }

  #write(reply: PreparedReply, options: { head: boolean; close: boolean }): void {
    const response = this.#response;
    response.writeStatus(reply.status_line);
    // One call for the whole block: the library writes name and value as they are, and each call costs.
    response.writeHeader(FIRST_HEADER, reply.headers);
    const { body } = reply;
    if (body === null || options.head) {
      // Given a length, the library would wait for a body that never comes and take no further request.
      if (body !== null) response.writeHeader('Content-Length', String(byteLength(body)));
      if (options.close) response.writeHeader('Connection', 'close');
      response.endWithoutBody();
    } else if (byteLengthAtMost(body, LARGE_BODY)) response.end(body, options.close);
    else {
      this.#writeLarge(typeof body === 'string' ? Buffer.from(body) : body);
      return;
    }
    this.#settle();
  }

  /** A slice a turn of the event loop: the kernel copies megabytes for as long as its buffers take them. */
  #writeLarge(body: Uint8Array): void {
    const response = this.#response;
    const start = response.getWriteOffset();
    const total = body.length;
    const writeFrom = (from: number): boolean => {
      const end = Math.min(from + SLICE, total);
      const [taken, all] = response.tryEnd(body.subarray(from, end), total);
      if (all) this.#settle();
      else if (taken) {
        setImmediate(() => {
          if (!this.#settled) response.cork(() => writeFrom(end));
        });
      }
      return taken;
    };
    response.onWritable((offset) => writeFrom(offset - start));
    writeFrom(0);
  }

  #abort(): void {
    this.open = false;
    this.#aborted = true;
    this.#settle();
    this.#controller?.abort();
  }

  #settle(): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#onSettled();
  }
}

function byteLength(body: string | Uint8Array): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}

/** A string of UTF-16 units has at most three bytes a unit, so most need no counting. */
function byteLengthAtMost(body: string | Uint8Array, most: number): boolean {
  return body.length * (typeof body === 'string' ? 3 : 1) <= most;
}
