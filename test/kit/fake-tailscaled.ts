import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';

/** A machine as the status of tailscaled tells it, of user 1 and online unless told. */
export function tailnetNode(host_name: string, address: string, more: object = {}): Record<string, unknown> {
  return {
    ...{ ID: `n-${host_name}`, HostName: host_name, DNSName: `${host_name}.tail1234.ts.net.` },
    ...{ OS: 'linux', UserID: 1, TailscaleIPs: [address], Online: true, Active: false },
    LastSeen: '0001-01-01T00:00:00Z',
    ...more,
  };
}

type Target = { host: string; port: number };

/** A server that speaks the local API of tailscaled on a Unix socket. */
export class FakeTailscaled {
  /** The answer to `status`. */
  status: unknown;
  /** The answers to `whois`, by `address:port`, else by address. */
  whois: Record<string, unknown> = {};
  /** Where a dialled `address:port` leads to; nothing refuses with 502. */
  routes: Record<string, Target> = {};
  /** Answers in place of all of the above. */
  instead: ((request: IncomingMessage, response: ServerResponse) => void) | null = null;
  /** What it was asked for, such as `GET /localapi/v0/status`, and what was dialled. */
  asked: string[] = [];
  dialled: string[] = [];
  readonly #server: Server;
  readonly #streams = new Set<Duplex>();

  constructor(self: Record<string, unknown>, peers: Record<string, unknown>[], more: object = {}) {
    this.status = {
      ...{ Version: '1.80.0', BackendState: 'Running', TUN: true, Self: self },
      Peer: Object.fromEntries(peers.map((peer) => [`nodekey:${String(peer.ID)}`, peer])),
      CurrentTailnet: { Name: 'me@example.org', MagicDNSSuffix: 'tail1234.ts.net' },
      ...more,
    };
    this.#server = createServer((request, response) => this.#answer(request, response));
    this.#server.on('upgrade', (request, stream) => this.#dial(request, stream));
    this.#server.on('connection', (stream) => this.#hold(stream));
  }

  async listen(path: string): Promise<this> {
    this.#server.listen(path);
    await once(this.#server, 'listening');
    return this;
  }

  async stop(): Promise<void> {
    for (const stream of this.#streams) stream.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }

  #hold<S extends Duplex>(stream: S): S {
    this.#streams.add(stream);
    stream.on('error', () => undefined);
    stream.once('close', () => this.#streams.delete(stream));
    return stream;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    this.asked.push(`${request.method} ${pathname}`);
    const address = searchParams.get('addr') ?? '';
    const known = this.whois[address] ?? this.whois[address.slice(0, address.lastIndexOf(':'))];
    if (this.instead !== null) this.instead(request, response);
    // The real one keeps web pages out by this.
    else if (request.headers.host !== 'local-tailscaled.sock') response.writeHead(403).end();
    else if (pathname === '/localapi/v0/status') json(response, this.status);
    else if (pathname !== '/localapi/v0/whois') response.writeHead(404).end('not found');
    else if (known === undefined) response.writeHead(404).end('no match for IP:port');
    else json(response, known);
  }

  #dial(request: IncomingMessage, stream: Duplex): void {
    const { 'dial-host': host, 'dial-port': port } = request.headers;
    const to = `${String(host)}:${String(port)}`;
    this.dialled.push(to);
    const target = this.routes[to];
    if (target === undefined) {
      stream.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 24\r\n\r\ndial failure: no route\r\n');
      return;
    }
    const further = this.#hold(connect(target.port, target.host));
    further.once('error', () => stream.destroy());
    further.once('connect', () => {
      stream.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: ts-dial\r\n\r\n');
      stream.pipe(further).pipe(stream);
    });
    stream.once('close', () => further.destroy());
    further.once('close', () => stream.destroy());
  }
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
