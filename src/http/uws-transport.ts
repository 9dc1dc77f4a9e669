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
import { errorBody } from './error-reply.ts';
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
/**
 * After this many milliseconds without a request, a connection is answered; the library closes it at ten seconds. Long
 * enough for a client on a busy machine, short enough for a person whose request lacks every header.
 */
const PATIENCE_MS = 3_000;
const LOOK_EVERY_MS = 500;

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

type Silent = { response: HttpResponse; since: number };

/**
 * Connections over which no request has come yet. The library waits silently for the rest of a request that has no
 * Host, folds its headers or holds a NUL; here it is answered 408 before the library's own time is over.
 *
 * Nothing ties a request to its connection but this: the empty body that the library reports after each request
 * goes to whoever listens on the connection, which is the listener set when it was accepted. A connection that
 * closes tells its own listener too, unless a request has taken its place; then it is unknown which one has gone,
 * and all are forgotten, for what has gone must not be touched.
 */
class SilentConnections {
  #clock: Clock;
  #silent = new Set<Silent>();
  /** Connections that have closed less those that are known. */
  #unknown = 0;
  #cancel: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `answered` tells whether the request that was taken last has been given its answer. */
  watch(app: TemplatedApp, answered: () => boolean): void {
    const counted = (response: HttpResponse, count: number | number) => {
      if (Number(count) > 0) this.#opened(response, answered);
      else this.#closed();
    };
    app.filter(counted);
  }

  /** A request is about to listen for its body in the place of whoever listened before. */
  forget(): void {
    this.#silent.clear();
  }

  stop(): void {
    this.#silent.clear();
    this.#cancel?.();
    this.#cancel = null;
  }

  #opened(response: HttpResponse, answered: () => boolean): void {
    const entry: Silent = { response, since: this.#clock.monotonic() };
    this.#silent.add(entry);
    response.onData(() => {
      this.#silent.delete(entry);
      // To report a body, the library has stopped its clock for a connection that says nothing more; resumed, it
      // begins again. While the answer is awaited, there is no such limit.
      if (!answered()) return;
      response.pause();
      response.resume();
    });
    response.onAborted(() => {
      this.#silent.delete(entry);
      this.#unknown -= 1;
    });
    this.#cancel ??= this.#clock.every(LOOK_EVERY_MS, () => this.#look());
  }

  #closed(): void {
    this.#unknown += 1;
    if (this.#unknown === 1) queueMicrotask(() => this.#doubt());
  }

  #doubt(): void {
    if (this.#unknown > 0) this.#silent.clear();
    this.#unknown = 0;
  }

  #look(): void {
    this.#doubt();
    const until = this.#clock.monotonic() - PATIENCE_MS;
    for (const entry of [...this.#silent]) {
      if (entry.since > until) continue;
      this.#silent.delete(entry);
      answerSilence(entry.response);
      // An answer that closes its connection has taken the listener away before.
      this.#unknown = 0;
    }
    if (this.#silent.size > 0) return;
    this.#cancel?.();
    this.#cancel = null;
  }
}

function answerSilence(response: HttpResponse): void {
  const message =
    'No whole request came in time; a request line, one Host header and an empty line are needed at least.';
  response.cork(() => {
    response.writeStatus('408 Request Timeout');
    response.writeHeader('Content-Type', 'application/json');
    response.writeHeader('X-Content-Type-Options', 'nosniff');
    response.writeHeader('Cache-Control', 'no-store');
    response.end(errorBody('request_timeout', message), true);
  });
}
