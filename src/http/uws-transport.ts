import {
  App,
  type HttpRequest,
  type HttpResponse,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from 'uWebSockets.js';
import type { Clock } from '../base/clock.ts';
import { SilentConnections } from './silent-connections.ts';
import type { Binding, Listener, RequestTaker, Transport } from './transport.ts';
import { readUwsHead, UwsExchange } from './uws-exchange.ts';

/** Fails to bind a host as `false`; the library's types leave out this form. */
type ListenExclusively = (
  host: string,
  port: number,
  options: number,
  done: (socket: us_listen_socket | false) => void,
) => void;
/** `LIBUS_LISTEN_EXCLUSIVE_PORT`, which the types leave out: by default a second daemon shares the port. */
const EXCLUSIVE_PORT = 1;

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
    app.any('/*', (response: HttpResponse, request: HttpRequest) => {
      const exchange = new UwsExchange(response, requests, onBody);
      last = exchange;
      requests.take(exchange, peer, readUwsHead, request);
      exchange.corked = false;
    });
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
