import type { HttpResponse } from 'uWebSockets.js';
import { FIRST_HEADER, type PreparedReply, type StreamedBody } from './prepared-reply.ts';

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
  /** Ends the wait for a client that takes no more. */
  #resume: (() => void) | null = null;
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
    } else if (typeof body === 'object' && 'read' in body) {
      this.#stream(body, options.close).catch(() => {
        // Half of what was promised is worse than a connection that ends: the client can tell.
        if (!this.#settled) response.close();
      });
      return;
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

  /** Sends each piece as the socket takes it; the next one is read when it has. */
  async #stream({ size, read }: StreamedBody, close: boolean): Promise<void> {
    const response = this.#response;
    if (close) response.writeHeader('Connection', 'close');
    let left = size;
    for await (const piece of read()) {
      for (let from = 0; from < piece.length; from += SLICE) {
        if (this.#settled) return;
        const slice = piece.subarray(from, Math.min(from + SLICE, piece.length));
        left -= slice.length;
        if (left < 0) throw new Error('more was read than was promised');
        if (await this.#send(slice, size)) {
          this.#settle();
          return;
        }
      }
    }
    if (!this.#settled) throw new Error('less was read than was promised');
  }

  /** Resolves when the socket has taken the slice, to true when it was the last; also when the client has gone. */
  #send(slice: Uint8Array, size: number): Promise<boolean> {
    return new Promise((resolve) => {
      const response = this.#response;
      response.cork(() => {
        const start = response.getWriteOffset();
        this.#resume = () => resolve(false);
        const [taken, all] = response.tryEnd(slice, size);
        if (taken || all) {
          setImmediate(() => resolve(all));
          return;
        }
        response.onWritable((offset) => {
          const [rest_taken, rest_all] = response.tryEnd(slice.subarray(offset - start), size);
          if (rest_taken || rest_all) setImmediate(() => resolve(rest_all));
          return rest_taken;
        });
      });
    });
  }

  #abort(): void {
    this.open = false;
    this.#aborted = true;
    this.#settle();
    this.#resume?.();
    this.#controller?.abort();
  }

  #settle(): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#onSettled();
  }
}

function byteLength(body: string | Uint8Array | StreamedBody): number {
  if (typeof body === 'string') return Buffer.byteLength(body);
  return 'read' in body ? body.size : body.length;
}

/** A string of UTF-16 units has at most three bytes a unit, so most need no counting. */
function byteLengthAtMost(body: string | Uint8Array, most: number): boolean {
  return body.length * (typeof body === 'string' ? 3 : 1) <= most;
}
