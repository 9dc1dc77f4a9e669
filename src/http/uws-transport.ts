import {
  App,
  type HttpRequest,
  type HttpResponse,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
  type WebSocket,
} from 'uWebSockets.js';
import type { Clock } from '../base/clock.ts';
import { SilentConnections } from './silent-connections.ts';
import type { Wire, WireListener } from './socket.ts';
import type { Binding, Listener, RequestTaker, Transport } from './transport.ts';
import { readUwsHead, UwsExchange, type UwsHandshake, type UwsSocketData } from './uws-exchange.ts';

/** Fails to bind a host as `false`; the library's types leave out this form. */
type ListenExclusively = (
  host: string,
  port: number,
  options: number,
  done: (socket: us_listen_socket | false) => void,
) => void;
/** `LIBUS_LISTEN_EXCLUSIVE_PORT`, which the types leave out: by default a second daemon shares the port. */
const EXCLUSIVE_PORT = 1;
/** Seconds after which the library closes a connection that no longer answers a closing handshake. */
const CLOSING_S = 120;

/** The transport over uWebSockets.js. */
export function createTransport(requests: RequestTaker, clock: Clock): Transport {
  const createApp = (binding: Binding) => new UwsApp(requests, clock, binding);
  return {
    kind: 'uws',
    async listenTcp(host, port, binding) {
      const { app, silent } = createApp(binding);
      let bound: us_listen_socket | false = false;
      (app.listen as unknown as ListenExclusively).call(app, host, port, EXCLUSIVE_PORT, (socket) => {
        bound = socket;
      });
      return bound ? listener(app, bound, us_socket_local_port(bound), silent) : null;
    },
    async listenUnix(path, binding) {
      const { app, silent } = createApp(binding);
      let bound: us_listen_socket | false = false;
      app.listen_unix((socket) => {
        bound = socket;
      }, path);
      return bound ? listener(app, bound, 0, silent) : null;
    },
  };
}

class UwsApp {
  readonly app: TemplatedApp;
  readonly silent: SilentConnections;

  constructor(requests: RequestTaker, clock: Clock, { peer, onConnection }: Binding) {
    const silent = new SilentConnections(clock);
    const onBody = () => silent.forget();
    const app = App();
    this.app = app;
    this.silent = silent;
    let last: UwsExchange | null = null;
    silent.watch(app, () => last?.open === false);
    onConnection?.(app);
    const serve = (response: HttpResponse, request: HttpRequest, handshake: UwsHandshake | null) => {
      const exchange = new UwsExchange(response, requests, onBody, handshake);
      last = exchange;
      requests.take(exchange, peer, readUwsHead, request);
      exchange.corked = false;
    };
    app.any('/*', (response, request) => serve(response, request, null));
    // The library brings here what has a Sec-WebSocket-Key of the right length, and everything else to `any`.
    app.ws<UwsSocketData & { listener?: WireListener }>('/*', {
      compression: 0,
      maxPayloadLength: requests.longest_message,
      maxBackpressure: requests.most_unsent,
      closeOnBackpressureLimit: true,
      idleTimeout: CLOSING_S,
      // It would count its own pings as signs of life.
      sendPingsAutomatically: false,
      upgrade: (response, request, context) =>
        serve(response, request, { key: request.getHeader('sec-websocket-key'), context }),
      open(socket) {
        const data = socket.getUserData();
        data.listener = data.accept(new UwsWire(socket));
        data.listener.opened();
      },
      message: (socket, data, binary) => socket.getUserData().listener?.message(new Uint8Array(data), binary),
      pong: (socket) => socket.getUserData().listener?.pong(),
      drain(socket) {
        if (socket.getBufferedAmount() === 0) socket.getUserData().listener?.drained();
      },
      close: (socket) => socket.getUserData().listener?.closed(),
    });
  }
}

class UwsWire implements Wire {
  readonly #socket: WebSocket<unknown>;

  constructor(socket: WebSocket<unknown>) {
    this.#socket = socket;
  }

  send(message: Uint8Array, binary: boolean): void {
    this.#socket.send(message, binary);
  }

  buffered(): number {
    return this.#socket.getBufferedAmount();
  }

  ping(): void {
    this.#socket.ping();
  }

  end(code: number, reason: string): void {
    this.#socket.end(code, reason);
  }

  cut(): void {
    this.#socket.close();
  }
}

function listener(
  app: TemplatedApp,
  socket: us_listen_socket,
  port: number,
  silent: SilentConnections,
): Listener {
  return {
    port,
    refuseMore: () => us_listen_socket_close(socket),
    close: async () => {
      silent.stop();
      app.close();
    },
  };
}
