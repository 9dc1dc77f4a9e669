import { networkInterfaces } from 'node:os';
import type { AccessPolicy } from '../../src/access/decide-access.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { type Logger, silentLogger } from '../../src/base/logger.ts';
import type { Reply } from '../../src/http/reply.ts';
import type { Route } from '../../src/http/routing.ts';
import type { Row } from '../../src/http/row.ts';
import {
  createHttpServer,
  type HttpLimits,
  type HttpServer,
  type HttpServerOptions,
} from '../../src/http/server.ts';
import type { ServerKind } from '../../src/http/transport.ts';
import type { PeerCredentials } from '../../src/platform/peer-credentials.ts';

export const LOOPBACK_ONLY: AccessPolicy = { own_names: [], allowed_hosts: [], dev_origins: [] };

/** Some machines have no IPv6 at all; there the daemon listens on IPv4 alone. */
export const HAS_LOOPBACK_V6 = Object.values(networkInterfaces()).some((entries) =>
  entries?.some((entry) => entry.address === '::1'),
);

/** What `127.0.0.1:<port>` binds on this machine. */
export function loopbackAddresses(port: number): string[] {
  return HAS_LOOPBACK_V6 ? [`127.0.0.1:${port}`, `[::1]:${port}`] : [`127.0.0.1:${port}`];
}

/** The transport under test: the suites of the kernel and of the routes run once on each (test/node-http). */
export const SERVER_KIND: ServerKind = process.env.SVC_HTTP === 'node' ? 'node' : 'uws';

/** Whatever a request says, it is answered by the server that took it. */
export const ANSWERED_HERE: Route = () => ({ kind: 'local' });

export type Served = { server: HttpServer; port: number };

/** Serves rows on a free port; the caller stops the server. */
export async function serve(
  routes: readonly Row[],
  options: {
    host?: string;
    access?: Partial<AccessPolicy>;
    booting?: () => Record<string, unknown> | null;
    limits?: Partial<HttpLimits>;
    logger?: Logger;
    peers?: PeerCredentials;
    route?: Route;
    observe?: HttpServerOptions['observe'];
    http?: HttpServerOptions['http'];
    clock?: Clock;
  } = {},
): Promise<Served> {
  const server = createHttpServer({
    host: options.host ?? 'host-a',
    routes,
    access: { ...LOOPBACK_ONLY, ...options.access },
    booting: options.booting ?? (() => null),
    route: options.route ?? ANSWERED_HERE,
    limits: options.limits ?? {},
    logger: options.logger ?? silentLogger,
    http: options.http ?? SERVER_KIND,
    ...(options.observe && { observe: options.observe }),
    ...(options.peers && { peers: options.peers }),
    clock: options.clock ?? systemClock,
  });
  const [address] = await server.listen('127.0.0.1:0');
  return { server, port: Number(address!.split(':').at(-1)) };
}

const DEFAULTS = {
  summary: '',
  routing: 'local',
  state: 'always',
  body_limit: 1_000,
  replies: {},
} as const;

/** A GET row for tests of the kernel. */
export function getRow(path: string, handler: Row['handler'], rest: Partial<Row> = {}): Row {
  return { ...DEFAULTS, method: 'GET', path, handler, ...rest };
}

/** A POST row for tests of the kernel. */
export function postRow(path: string, handler: Row['handler'], rest: Partial<Row> = {}): Row {
  return { ...DEFAULTS, method: 'POST', path, handler, ...rest };
}

/** An answer with a JSON value. */
export function json(value: unknown, rest: { etag?: string; headers?: Record<string, string> } = {}): Reply {
  return { status: 200, json: value, ...rest };
}
