import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { SECURITY_HEADERS } from '../access/security-headers.ts';
import { systemCode } from '../base/errors.ts';
import { type ErrorCode, statusOf } from '../contract/error-codes.ts';
import { errorBody } from './error-reply.ts';
import { NodeExchange, type NodeHandshake, readNodeHead } from './node-exchange.ts';
import { SocketSource } from './node-sockets.ts';
import { NodeWebSockets } from './node-web-sockets.ts';
import { STATUS_LINES } from './prepared-reply.ts';
import { handshakeFault } from './request-head.ts';
import type { Binding, Listener, RequestTaker, Transport } from './transport.ts';

const MOST_HEADER_BYTES = 65_536;
/** As long as the other transport waits. */
const IDLE_MS = 10_000;
const LOOK_EVERY_MS = 1_000;
const SPEAKS = 'This server supports only HTTP/1.1.';

/** The transport over Node's own `http`, for machines where the native one cannot be loaded. */
export function createTransport(requests: RequestTaker): Transport {
  return {
    kind: 'node',
    listenTcp: (host, port, binding) => listen(requests, binding, { host, port, exclusive: true }),
    listenUnix: (path, binding) => listen(requests, binding, { path }),
  };
}

function listen(
  requests: RequestTaker,
  binding: Binding,
  address: { host: string; port: number; exclusive: boolean } | { path: string },
): Promise<Listener | null> {
  const http = createHttp(requests, binding);
  const sockets = new SocketSource(http, binding.hold);
  binding.onConnection?.(sockets.source);
  // Nothing is read, let alone parsed, before the connection has been decided about.
  const net = createNetServer({ pauseOnConnect: true, noDelay: true }, (socket) => sockets.accepted(socket));
  return new Promise((resolve, reject) => {
    net.once('error', (error) => {
      if (['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES', 'ENOENT'].includes(systemCode(error) ?? ''))
        resolve(null);
      else reject(error);
    });
    net.listen(address, () => {
      const bound = net.address() as AddressInfo | string;
      resolve({
        port: typeof bound === 'string' ? 0 : bound.port,
        refuseMore: () => net.close(),
        close: async () => {
          net.close();
          http.close();
          await sockets.closeAll();
        },
      });
    });
  });
}

function createHttp(requests: RequestTaker, { peer }: Binding): Server {
  // Connections that end with the request they are at: what follows it may have been smuggled.
  const ending = new WeakSet<Duplex>();
  /** Requests whose body may turn out to be malformed. */
  const chunked = new WeakMap<ServerResponse, NodeExchange>();
  const read = (request: IncomingMessage) => {
    const head = readNodeHead(request);
    if (head.fault !== null) ending.add(request.socket);
    return head;
  };
  const webSockets = new NodeWebSockets(requests);
  const serve = (request: IncomingMessage, response: ServerResponse, handshake?: NodeHandshake) => {
    if (ending.has(request.socket)) return;
    if (request.httpVersion !== '1.1') {
      ending.add(request.socket);
      const { status, headers, body } = refusalOf('version_not_supported', SPEAKS);
      response.writeHead(status, headers).end(body);
      return;
    }
    const waiting = waitingOn(request.socket);
    const onSettled = () => {
      waiting.delete(exchange);
      requests.settled();
    };
    const exchange = new NodeExchange(request, response, requests, onSettled, handshake);
    waiting.add(exchange);
    if (request.headers['transfer-encoding'] !== undefined) chunked.set(response, exchange);
    requests.take(exchange, peer, read, request);
  };
  const http = createServer({
    // The kernel asks for exactly one Host itself, and says so in its own words.
    requireHostHeader: false,
    insecureHTTPParser: false,
    maxHeaderSize: MOST_HEADER_BYTES,
    headersTimeout: IDLE_MS,
    keepAliveTimeout: IDLE_MS,
    // Bodies have time-outs of their own, by row.
    requestTimeout: 0,
    connectionsCheckingInterval: LOOK_EVERY_MS,
    // Everything else goes the way of any request, and is answered there.
    shouldUpgradeCallback: (request: IncomingMessage) => handshakeFault(readNodeHead(request)) === null,
  } as ServerOptions);
  // The parser is lenient about it otherwise and cuts a flood of headers silently.
  http.maxHeadersCount = 0;
  // It never listens itself, and looks for slow connections only from then on.
  http.emit('listening');
  for (const event of ['request', 'checkContinue', 'checkExpectation'])
    http.on(event, (request: IncomingMessage, response: ServerResponse) => serve(request, response));
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // It came before earlier requests were answered, whose answers would go out as frames.
    if (waitingOn(socket).size > 0 || ending.has(socket)) {
      socket.destroy();
      return;
    }
    // Node gives no response beside an upgrade.
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Socket);
    response.once('finish', () => (socket as Socket).destroySoon());
    serve(request, response, (accept) => {
      response.detachSocket(socket as Socket);
      webSockets.upgrade(request, socket, head, accept);
    });
  });
  http.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    refuse(socket, 'invalid_request', 'This daemon is not a proxy.');
  });
  http.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // What follows the last request of a connection is nobody's.
    if (error.code === 'HPE_CLOSED_CONNECTION') return;
    const { _httpMessage: answering } = socket as { _httpMessage?: ServerResponse | null };
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else if (answering) {
      // Said now, it would be taken for the answer to an earlier request.
      answering.shouldKeepAlive = false;
      answering.once('finish', () => socket.destroy());
      if (!answering.req.complete) chunked.get(answering)?.refuseBody();
    } else refuse(socket, ...reasonOf(error.code));
  });
  return http;
}

/** What is not answered yet on each connection. */
const unanswered = new WeakMap<Duplex, Set<NodeExchange>>();

/** Of all requests on a connection that closes, Node tells only the one whose answer is being written. */
function waitingOn(socket: Duplex): Set<NodeExchange> {
  const known = unanswered.get(socket);
  if (known !== undefined) return known;
  const waiting = new Set<NodeExchange>();
  unanswered.set(socket, waiting);
  socket.once('close', () => {
    for (const exchange of waiting) exchange.leave();
  });
  return waiting;
}

function reasonOf(code: string | undefined): [ErrorCode, string] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return ['header_too_large', `The headers are larger than ${MOST_HEADER_BYTES} bytes.`];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return ['request_timeout', 'The request was not complete in time.'];
    case 'HPE_INVALID_VERSION':
      return ['version_not_supported', SPEAKS];
    default:
      return ['invalid_request', 'The bytes that arrived are not an HTTP/1.1 request.'];
  }
}

/** Answers on the bare connection and ends it. */
function refuse(socket: Duplex, code: ErrorCode, message: string): void {
  const { status, headers, body } = refusalOf(code, message);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => undefined);
  socket.end(`HTTP/1.1 ${STATUS_LINES.get(status)}\r\n${lines.join('')}\r\n${body}`, () => socket.destroy());
}

function refusalOf(code: ErrorCode, message: string) {
  const body = errorBody(code, message);
  const headers = {
    ...SECURITY_HEADERS,
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    Connection: 'close',
    'Content-Length': String(Buffer.byteLength(body)),
  };
  return { status: statusOf(code), headers, body };
}
