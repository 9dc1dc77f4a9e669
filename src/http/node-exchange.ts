import type { IncomingMessage, ServerResponse } from 'node:http';
import { refusal } from './error-reply.ts';
import { type AnswerOptions, byteLength, Exchange, type Sent, SLICE } from './exchange.ts';
import { Pieces, piecesOf } from './pieces.ts';
import { FIRST_HEADER, isRead, type PreparedReply } from './prepared-reply.ts';
import { HeaderCollector, type RequestHead } from './request-head.ts';
import type { Wire, WireListener } from './socket.ts';
import type { RequestTaker } from './transport.ts';

/** Makes a WebSocket of the connection that a handshake came over. */
export type NodeHandshake = (accept: (wire: Wire) => WireListener) => void;

/** The head as it was sent: Node's own table of headers drops some that come twice. */
export function readNodeHead(request: IncomingMessage): RequestHead {
  const collector = new HeaderCollector();
  const { rawHeaders } = request;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    collector.add(rawHeaders[index]!.toLowerCase(), rawHeaders[index + 1]!);
  }
  const url = request.url ?? '';
  const cut = url.indexOf('?');
  return {
    method: request.method ?? '',
    path: cut < 0 ? url : url.slice(0, cut),
    query: cut < 0 ? '' : url.slice(cut + 1),
    headers: collector.headers,
    fault: collector.fault(),
  };
}

/** An exchange over Node's own `http`. */
export class NodeExchange extends Exchange {
  #request: IncomingMessage;
  #response: ServerResponse;
  #handshake: NodeHandshake | null;
  /** Ends the wait for a client that takes no more. */
  #resume: (() => void) | null = null;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    requests: Pick<RequestTaker, 'nextId' | 'unsent'>,
    onSettled: () => void,
    handshake: NodeHandshake | null = null,
  ) {
    super(requests.nextId(), onSettled, requests.unsent);
    this.#request = request;
    this.#response = response;
    this.#handshake = handshake;
    // Its connection may fail at any time; `close` tells what matters of it.
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    response.once('finish', () => this.settle());
    response.once('close', () => this.leave());
  }

  /** The connection has closed. */
  leave(): void {
    if (!this.settled) this.abort();
    this.#resume?.();
  }

  readBody(hear: (chunk: Uint8Array, last: boolean) => void): void {
    if (this.#request.headers.expect !== undefined) this.#response.writeContinue();
    this.#request.on('data', (chunk: Buffer) => hear(chunk, false));
    this.#request.once('end', () => hear(new Uint8Array(0), true));
  }

  override get may_refuse(): boolean {
    return true;
  }

  /** The chunks of its body are malformed, so that nothing more of it can be read. */
  refuseBody(): void {
    const refused = refusal('invalid_request', 'The chunks of the body are malformed.', { issues: [] });
    if (this.refuse === null) this.drop();
    else this.refuse(refused);
  }

  pauseBody(): void {
    this.#request.pause();
  }

  resumeBody(): void {
    this.#request.resume();
  }

  keepReading(): void {
    // Node has no time-out of its own for bodies here.
  }

  protected write(reply: PreparedReply, options: AnswerOptions): void {
    const response = this.#response;
    const headers: string[] = [];
    for (const line of `${FIRST_HEADER}: ${reply.headers}`.split('\r\n')) {
      const cut = line.indexOf(':');
      headers.push(line.slice(0, cut), line.slice(cut + 2));
    }
    const { body } = reply;
    const length = body === null ? null : byteLength(body);
    if (length !== null) headers.push('Content-Length', String(length));
    if (options.close) {
      headers.push('Connection', 'close');
      response.shouldKeepAlive = false;
    }
    response.writeHead(reply.status, headers);
    if (body === null || options.head) response.end();
    else if (isRead(body)) {
      this.stream(body);
      return;
    } else if (length! > SLICE) {
      this.sendLong(piecesOf(body));
      return;
    } else {
      response.end(body instanceof Pieces ? body.joined() : body);
      if (response.writableLength > 0) this.holdUnsent(body);
    }
    if (response.writableLength > 0) this.expectTaken();
  }

  get upgradable(): boolean {
    return this.#handshake !== null;
  }

  protected switchProtocols(accept: (wire: Wire) => WireListener): void {
    this.#handshake?.(accept);
  }

  protected override get hasTurn(): boolean {
    return this.#response.socket !== null;
  }

  protected closeNow(): void {
    this.#response.destroy();
    this.#request.socket.destroy();
  }

  protected send(slices: readonly Uint8Array[], size: number): Sent {
    const response = this.#response;
    const taken = slices.reduce((sum, { length }) => sum + length, 0);
    this.#sent += taken;
    const isLast = this.#sent === size;
    // Called when the last slice has left: only then may their bytes be overwritten.
    const room = new Promise<void>((resolve) => {
      this.#resume = resolve;
      response.cork();
      for (const slice of slices.slice(0, -1)) response.write(slice);
      if (isLast) response.end(slices.at(-1), () => resolve());
      else response.write(slices.at(-1), () => resolve());
      response.uncork();
    });
    return { taken, all: false, flows: response.writableLength === 0, room };
  }

  /** What is under way has to stay as it is. */
  protected joinRoom(): Uint8Array {
    return Buffer.allocUnsafe(SLICE);
  }

  protected sendChunk(slice: Uint8Array): Sent {
    const response = this.#response;
    const room = new Promise<void>((resolve) => {
      this.#resume = resolve;
      response.write(slice, () => resolve());
    });
    return { taken: slice.length, all: false, flows: response.writableLength === 0, room };
  }

  protected endChunks(): void {
    this.#response.end();
    this.#resume?.();
  }

  #sent = 0;
}
