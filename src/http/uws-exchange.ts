import type { HttpRequest, HttpResponse, us_socket_context_t } from 'uWebSockets.js';
import { type AnswerOptions, byteLength, Exchange, type Sent, SLICE } from './exchange.ts';
import { Pieces, piecesOf, type WholeBody } from './pieces.ts';
import { FIRST_HEADER, isRead, type PreparedReply } from './prepared-reply.ts';
import { HeaderCollector, type RequestHead } from './request-head.ts';
import type { Wire, WireListener } from './socket.ts';
import type { RequestTaker } from './transport.ts';

/** Above this, the body is written as the socket takes it instead of being copied whole. */
const LARGE_BODY = 64 * 1024;
/** Written to a client that took nothing for a while, to learn whether it has taken what the library held for it. */
const PROBE_BYTES = 1024;

/** For all answers: what the library does not take of a slice at once it does not take at all. */
const JOIN_ROOM = new Uint8Array(SLICE);

/** What the library needs to make a WebSocket of the request that it brought. */
export type UwsHandshake = { key: string; context: us_socket_context_t };
/** What the library keeps with a WebSocket. */
export type UwsSocketData = { accept: (wire: Wire) => WireListener };

/** Copies the head; the library's own request object dies when its callback returns. */
export function readUwsHead(request: HttpRequest): RequestHead {
  const collector = new HeaderCollector();
  request.forEach((name, value) => {
    collector.add(name, value);
  });
  return {
    method: request.getMethod().toUpperCase(),
    path: request.getUrl(),
    query: request.getQuery() ?? '',
    headers: collector.headers,
    fault: collector.fault(),
  };
}

/** An exchange over uWebSockets.js. */
export class UwsExchange extends Exchange {
  /** True while the library has corked the socket for us, that is, in the callback of the request itself. */
  corked = true;
  #response: HttpResponse;
  #onBody: () => void;
  #handshake: UwsHandshake | null;
  #paused = false;
  /** True while the library may hold some of what was written. */
  #held = false;
  /** Ends the wait for a client that takes no more. */
  #resume: (() => void) | null = null;
  /** True once the library tells when the socket has room. */
  #told = false;

  /** `onBody` is called when a body is about to be read, or the connection to be upgraded. */
  constructor(
    response: HttpResponse,
    requests: RequestTaker,
    onBody: () => void,
    handshake: UwsHandshake | null = null,
  ) {
    super(requests.nextId(), requests.settled, requests.unsent);
    this.#response = response;
    this.#onBody = onBody;
    this.#handshake = handshake;
    response.onAborted(() => this.#leave());
  }

  readBody(hear: (chunk: Uint8Array, last: boolean) => void): void {
    this.#onBody();
    this.#response.onData((chunk, last) => hear(new Uint8Array(chunk), last));
  }

  pauseBody(): void {
    if (this.settled || this.#paused) return;
    this.#paused = true;
    this.#response.pause();
  }

  resumeBody(): void {
    if (this.settled || !this.#paused) return;
    this.#paused = false;
    this.#response.resume();
  }

  /** The library allows ten seconds for each 160 kB; being resumed starts them again. */
  keepReading(): void {
    if (this.settled || this.#paused) return;
    this.#response.pause();
    this.#response.resume();
  }

  protected write(reply: PreparedReply, options: AnswerOptions): void {
    if (this.corked) this.#write(reply, options);
    else this.#response.cork(() => this.#write(reply, options));
  }

  get upgradable(): boolean {
    return this.corked && this.#handshake !== null;
  }

  protected switchProtocols(accept: (wire: Wire) => WireListener): void {
    const { key, context } = this.#handshake!;
    this.#onBody();
    const data: UwsSocketData = { accept };
    // No subprotocol and no extension is agreed on.
    this.#response.upgrade(data, key, '', '', context);
  }

  protected closeNow(): void {
    this.#response.close();
  }

  protected send(slices: readonly Uint8Array[], size: number): Sent {
    const response = this.#response;
    let sent: Sent | null = null;
    response.cork(() => {
      const start = response.getWriteOffset();
      let [flows, all, length] = [true, false, 0];
      for (const slice of slices) {
        if (!flows) break;
        const [has_room, ended] = response.tryEnd(slice, size);
        [flows, all] = [has_room || ended, ended];
        length += slice.length;
      }
      const taken = flows ? length : response.getWriteOffset() - start;
      sent = { taken, all, flows, room: this.#whenRoom(flows) };
    });
    return sent!;
  }

  protected joinRoom(): Uint8Array {
    return JOIN_ROOM;
  }

  /**
   * The library takes every chunk whole and holds what the system has no room for. Few bytes are given to it until it
   * holds nothing any more, so that it never holds more than a slice and some probes.
   */
  protected sendChunk(slice: Uint8Array): Sent {
    const chunk = this.#held ? slice.subarray(0, PROBE_BYTES) : slice;
    this.#response.cork(() => {
      this.#held = !this.#response.write(chunk);
    });
    return { taken: chunk.length, all: false, flows: !this.#held, room: this.#whenRoom(!this.#held) };
  }

  protected endChunks(): void {
    this.#response.cork(() => this.#response.end());
    this.settle();
    this.#resume?.();
  }

  /** In the next turn where there is room already, for the kernel takes megabytes without a pause. */
  #whenRoom(now: boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#resume = resolve;
      if (now) setImmediate(resolve);
      else this.#beTold();
    });
  }

  /**
   * One function for all waits: what goes on after a wait does so within the call of that function, and the library forgets
   * one that it is given meanwhile.
   */
  #beTold(): void {
    if (this.#told) return;
    this.#told = true;
    this.#response.onWritable(() => {
      // What the library holds leaves when the socket is uncorked, and not by itself.
      if (this.#held && !this.settled) this.#response.cork(() => undefined);
      this.#resume?.();
      return true;
    });
  }

  #write(reply: PreparedReply, options: AnswerOptions): void {
    const response = this.#response;
    response.writeStatus(reply.status_line);
    // One call for the whole block: the library writes name and value as they are, and each call costs.
    response.writeHeader(FIRST_HEADER, reply.headers);
    const { body } = reply;
    if (body === null || options.head) {
      // Given a length, the library would wait for a body that never comes and take no further request.
      const length = body === null ? null : byteLength(body);
      if (length !== null) response.writeHeader('Content-Length', String(length));
      // Told to close, it adds a length and a line of its own.
      if (options.close) response.writeHeader('Connection', 'close');
      response.endWithoutBody();
    } else if (isRead(body)) {
      if (options.close) response.writeHeader('Connection', 'close');
      this.stream(body);
      return;
    } else if (byteLengthAtMost(body, LARGE_BODY)) {
      response.end(body instanceof Pieces ? body.joined() : body, options.close);
    } else {
      if (options.close) response.writeHeader('Connection', 'close');
      this.sendLong(piecesOf(body));
      return;
    }
    this.settle();
  }

  #leave(): void {
    this.abort();
    this.#resume?.();
  }
}

/** A string of UTF-16 units has at most three bytes a unit, so most need no counting. */
function byteLengthAtMost(body: WholeBody, most: number): boolean {
  return body.length * (typeof body === 'string' ? 3 : 1) <= most;
}
