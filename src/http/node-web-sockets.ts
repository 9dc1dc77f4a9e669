import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Wire, WireListener } from './socket.ts';
import type { RequestTaker } from './transport.ts';

const NOTHING = new Uint8Array(0);

/** Makes WebSockets of connections of Node's own `http`. What it is given has been judged: only whole handshakes. */
export class NodeWebSockets {
  readonly #server: WebSocketServer;

  constructor({ longest_message }: Pick<RequestTaker, 'longest_message'>) {
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: longest_message,
      handleProtocols: () => false,
    });
  }

  /** `head` is what came behind the handshake. */
  upgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    accept: (wire: Wire) => WireListener,
  ): void {
    // No subprotocol is agreed on, and the library refuses a list that it cannot parse in words of its own.
    delete request.headers['sec-websocket-protocol'];
    this.#server.handleUpgrade(request, socket, head, (opened) => {
      const wire = new NodeWire(opened);
      wire.listener = accept(wire);
      opened.on('message', (data: Buffer, binary) => wire.listener?.message(data, binary));
      opened.on('pong', () => wire.listener?.pong());
      // The library has answered it, and does not tell when the answer has left.
      opened.on('ping', () => {
        if (wire.buffered() > 0) socket.write(NOTHING, wire.sent);
      });
      // The library answers broken frames with the code that fits, and closes.
      opened.on('error', () => undefined);
      opened.once('close', () => wire.listener?.closed());
      wire.listener.opened();
    });
  }
}

class NodeWire implements Wire {
  listener: WireListener | null = null;
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** Called when a frame has left; the last one may be any. */
  readonly sent = (): void => {
    if (this.buffered() === 0) this.listener?.drained();
  };

  send(message: Uint8Array, binary: boolean): void {
    this.#socket.send(message, { binary }, this.sent);
  }

  buffered(): number {
    return this.#socket.bufferedAmount;
  }

  ping(): void {
    this.#socket.ping(undefined, false, this.sent);
  }

  end(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  cut(): void {
    this.#socket.terminate();
  }
}
