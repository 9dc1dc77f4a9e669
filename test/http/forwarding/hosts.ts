import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createNetServer, type Socket } from 'node:net';
import { z } from 'zod';
import type { Route } from '../../../src/http/routing.ts';
import type { Row } from '../../../src/http/row.ts';
import type { HttpLimits } from '../../../src/http/server.ts';
import { getRow, json, postRow, type Served, serve } from '../served.ts';

/** Where each other host answers: a URL, or the path of a Unix socket. */
export type Table = Readonly<Record<string, string>>;

/** Goes by a table as the daemon does: an unknown name is this host. */
export function routeOf(host: string, table: Table, silent?: AbortSignal): Route {
  return (_, named, hops) => {
    const place = named === undefined || named === host ? undefined : table[named];
    if (place !== undefined) {
      const address = place.startsWith('/') ? { socket: place } : { url: place };
      return { kind: 'remote', host: named!, address, ...(silent !== undefined && { silent }) };
    }
    if (hops.length === 0 || named === host) return { kind: 'local' };
    return { kind: 'refused', code: 'misdirected', message: `This is ${host}.`, details: { origin: named } };
  };
}

const query = z.looseObject({ origin: z.string().optional() });
const body = z.looseObject({ origin: z.string().optional() });

/** The rows of the host that asks: what they answer themselves is `here`. */
export function serveAsker(
  table: Table,
  limits: Partial<HttpLimits> = {},
  rest: Partial<Row> = {},
  silent?: AbortSignal,
): Promise<Served> {
  const here = () => json('here');
  const owner = { routing: 'owner', query, ...rest } as const;
  const rows = [
    ...['/read', '/large', '/chunks', '/none', '/kept'].map((path) => getRow(path, here, owner)),
    postRow('/write', here, { ...rest, routing: 'owner', body, body_limit: 1_000_000 }),
    postRow('/bytes', here, { ...rest, routing: 'owner', body: 'bytes', body_limit: 64_000_000 }),
    getRow('/ok', () => json('ok')),
  ];
  return serve(rows, { host: 'host-a', route: routeOf('host-a', table, silent), limits });
}

/** A host that owns what the rows say. */
export function serveOwner(rows: readonly Row[]): Promise<Served> {
  return serve(rows, { host: 'host-b', route: routeOf('host-b', {}) });
}

export function urlOf({ port }: { port: number }): string {
  return `http://127.0.0.1:${port}`;
}

/** Something else that listens where a daemon is expected. */
export type Stranger = { port: number; connections: Socket[]; close(): void };

/** Hands over each connection as it comes. */
export function listenRaw(serveSocket: (socket: Socket) => void): Promise<Stranger> {
  const connections: Socket[] = [];
  const server = createNetServer((socket) => {
    connections.push(socket);
    socket.on('error', () => undefined);
    serveSocket(socket);
  });
  return listening(server, connections);
}

/** Answers by Node's own server, so that a test can answer what no daemon would. */
export function listenHttp(listener: RequestListener): Promise<Stranger> {
  const connections: Socket[] = [];
  const server = createServer(listener);
  server.on('connection', (socket) => connections.push(socket));
  return listening(server, connections);
}

function listening(server: ReturnType<typeof createNetServer>, connections: Socket[]): Promise<Stranger> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve({
        port: (server.address() as AddressInfo).port,
        connections,
        close() {
          for (const socket of connections) socket.destroy();
          server.close();
        },
      }),
    );
  });
}
