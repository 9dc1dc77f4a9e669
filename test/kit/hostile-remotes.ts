import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net';
import { gzipSync } from 'node:zlib';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const MIB = 1024 * 1024;
const COMMIT = {
  ...{
    at: 1,
    kind: 'commit',
    sha: 'a'.repeat(40),
    subject: 's',
    repo: '/r',
    cwd: '/r',
    session: null,
    mux: null,
  },
  ...{ files: 1, insertions: 1, deletions: 1 },
};
const HEAVY_ROWS = new Array(60_000).fill(JSON.stringify(COMMIT)).join(',');
const SPACES = Buffer.alloc(MIB, ' ');
/** 256 MiB of nothing in 256 kB. */
const BOMB = gzipSync(Buffer.alloc(256 * MIB));

/** What each hostile remote does with a request; it bears the name of its habit, but for the impostor. */
const HABITS: Readonly<Record<string, Answer>> = {
  silent: () => undefined,
  huge: (_, response) => pour(begin(response, 'huge', { 'content-length': 4_096 * MIB })),
  endless: (_, response) => pour(begin(response, 'endless')),
  drip: (_, response) => every(50, response, () => begin(response, 'drip').write(' ')),
  'slow-headers': (request) => {
    const { socket } = request;
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write(`X-${Math.random()}: x\r\n`), 100);
    socket.on('close', () => clearInterval(timer));
  },
  redirect: (_, response) =>
    response.writeHead(302, { ...who('redirect'), location: 'http://127.0.0.1:9/api/v1/version' }).end(),
  impostor: (_, response) =>
    begin(response, 'host-a').end('{"host":"host-a","fibers":[],"sessions":[],"gaps":[]}'),
  flapping: (request, response) =>
    Math.random() < 0.5
      ? request.socket.destroy()
      : begin(response, 'flapping').end('{"host":"flapping","git_short_sha":"f"}'),
  bomb: (_, response) => begin(response, 'bomb', { 'content-encoding': 'gzip' }).end(BOMB),
  html: (_, response) =>
    response.writeHead(200, { ...who('html'), 'content-type': 'text/html' }).end('<p>Hello'),
  heavy: heavy('heavy'),
  'heavy-too': heavy('heavy-too'),
  nested: (_, response) => begin(response, 'nested').end('['.repeat(8 * MIB)),
  'cut-short': (_, response) => {
    begin(response, 'cut-short', { 'content-length': 1_000 }).write('{"host":');
    setTimeout(() => response.destroy(), 20);
  },
  empty: (_, response) => begin(response, 'empty').end(),
  'many-headers': (_, response) => {
    const more = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`x-${at}`, 'y']));
    begin(response, 'many-headers', more).end('{}');
  },
};

/** Commits of the right shape, which take seconds to check; a short answer of no shape to any other question. */
function heavy(name: string): Answer {
  return (request, response) => {
    const is_asked = request.url?.startsWith('/api/v1/commits') === true;
    begin(response, name).end(is_asked ? `{"host":"${name}","commits":[${HEAVY_ROWS}]}` : '{}');
  };
}

const who = (name: string) => ({ 'svc-host': name, 'content-type': 'application/json' });

function begin(
  response: ServerResponse,
  name: string,
  more: Record<string, string | number> = {},
): ServerResponse {
  if (!response.headersSent) response.writeHead(200, { ...who(name), ...more });
  return response;
}

/** Sends as fast as the other end takes it. */
function pour(response: ServerResponse): void {
  const more = () => {
    while (!response.destroyed && response.write(SPACES));
  };
  response.on('drain', more);
  more();
}

function every(ms: number, response: ServerResponse, run: () => void): void {
  const timer = setInterval(run, ms);
  response.on('close', () => clearInterval(timer));
}

export type HostileRemotes = {
  /** As entries of `remotes.json`. */
  entries: { name: string; url: string }[];
  /** Connections that are open now. */
  held(): number;
  /** The bytes that one connection has taken at most. */
  most(): number;
  stop(): Promise<void>;
};

/** Real servers of loopback, each with another habit, and one that answers in TLS. */
export async function startHostileRemotes(): Promise<HostileRemotes> {
  const sockets = new Set<Socket>();
  let most = 0;
  const watch = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      most = Math.max(most, socket.bytesWritten - socket.writableLength);
      sockets.delete(socket);
    });
  };
  const servers: [string, Server | TcpServer][] = Object.entries(HABITS).map(([name, answer]) => [
    name,
    createServer(answer),
  ]);
  const alert = Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46]);
  servers.push(['tls', createTcpServer((socket) => socket.once('data', () => socket.end(alert)))]);
  for (const [, server] of servers) {
    server.on('connection', watch);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  }
  return {
    entries: servers.map(([name, server]) => ({
      name,
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    })),
    held: () => sockets.size,
    most: () =>
      Math.max(
        most,
        ...[...sockets].map(({ bytesWritten, writableLength }) => bytesWritten - writableLength),
      ),
    async stop() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map(([, server]) => new Promise((done) => server.close(done))));
    },
  };
}
