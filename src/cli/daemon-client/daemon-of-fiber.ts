import { z } from 'zod';
import { CodedError, isCoded } from '../../base/errors.ts';
import { readSettings } from '../../config/settings.ts';
import type { FiberRow } from '../../contract/fiber.ts';
import { fiberReplySchema } from '../../contract/http/fibers.ts';
import { stateSchema } from '../../contract/http/state.ts';
import type { CliContext } from '../command-line/verb.ts';
import { connectDaemon, type DaemonClient } from './client.ts';
import { fiberPath } from './fiber-path.ts';

/** What of `GET /fibers/composite` says where a fiber is. */
const placesSchema = z.object({
  host: z.string(),
  origins: z.record(
    z.string(),
    z.object({
      read: z
        .object({ fibers: z.array(z.object({ id: z.string(), uid: z.string().nullable() })).default([]) })
        .nullable(),
    }),
  ),
});
type Places = z.infer<typeof placesSchema>;
/** What of `GET /state` names the hosts that the daemon knows. */
const hostsSchema = stateSchema.pick({ host: true }).extend({
  fleet: z.object({ remotes: z.array(z.object({ name: z.string() })) }).nullable(),
});

/** The daemon for requests about one fiber, and the other host that they are passed on to; null for this host. */
export type DaemonOfFiber = { daemon: DaemonClient; host: string | null };

/**
 * Connects to the daemon for requests about a fiber, by its canonical id or uid. A fiber that is not found here is looked for
 * on the other hosts that the daemon knows; with `host`, its requests are for that host. Throws `unknown_host`, and
 * `ambiguous_fiber` where several other hosts have it. Where none does, the first request is refused as it would be anyway.
 */
export async function connectForFiber(
  context: CliContext,
  fiber: string,
  host?: string,
): Promise<DaemonOfFiber> {
  const { daemon, host: of } = await find(context, fiber, host);
  return { daemon, host: of };
}

/** As `connectForFiber`, with the row of the fiber; throws `fiber_not_found`. */
export async function readFiber(
  context: CliContext,
  fiber: string,
  host?: string,
): Promise<DaemonOfFiber & { fiber: FiberRow }> {
  const { read, ...found } = await find(context, fiber, host);
  return { ...found, ...(await read()) };
}

type Found = DaemonOfFiber & { read(): Promise<{ fiber: FiberRow }> };

async function find(context: CliContext, fiber: string, host: string | undefined): Promise<Found> {
  const daemon = await connectDaemon(readSettings(context.env));
  const at = (name: string): Found => {
    const there = forHost(daemon, name);
    return { daemon: there, host: name, read: () => rowOf(there, fiber) };
  };
  if (host !== undefined) {
    // An origin that nobody knows is taken for this host, whose own fiber of that name would be meant.
    const { host: own, fleet } = await daemon.get('/state', hostsSchema);
    if (host === own) return { daemon, host: null, read: () => rowOf(daemon, fiber) };
    if (fleet?.remotes.some(({ name }) => name === host) === true) return at(host);
    throw new CodedError('unknown_host', `no host "${host}" is known here; see: svc remotes list`);
  }
  const here = await Promise.allSettled([rowOf(daemon, fiber)]);
  const read = async () => (here[0].status === 'fulfilled' ? here[0].value : Promise.reject(here[0].reason));
  const found = { daemon, host: null, read };
  if (here[0].status === 'fulfilled' || !isCoded(here[0].reason, 'fiber_not_found')) return found;
  const places = await daemon.get('/fibers/composite', placesSchema).catch(() => null);
  const [only, ...others] = places === null ? [] : otherHostsOf(fiber, places);
  if (only === undefined) return found;
  if (others.length > 0)
    throw new CodedError(
      'ambiguous_fiber',
      `${fiber} is on the hosts ${[only, ...others].join(', ')}; name the one that is meant with --host`,
    );
  context.err(`svc: ${fiber} is on ${only}\n`);
  return at(only);
}

function rowOf(daemon: DaemonClient, fiber: string): Promise<{ fiber: FiberRow }> {
  return daemon.get(`/fibers/${fiberPath(fiber)}`, fiberReplySchema);
}

/** The other hosts that have a fiber of this id or uid. */
export function otherHostsOf(fiber: string, { host, origins }: Places): string[] {
  return Object.entries(origins).flatMap(([name, { read }]) => {
    const has = read?.fibers.some(({ id, uid }) => id === fiber || uid === fiber) ?? false;
    return has && name !== host ? [name] : [];
  });
}

/** The same daemon, which passes every request on to that host. */
function forHost(daemon: DaemonClient, host: string): DaemonClient {
  const at = (path: string) => `${path}${path.includes('?') ? '&' : '?'}origin=${encodeURIComponent(host)}`;
  const withOrigin = (body: unknown) => ({ ...(body as object | undefined), origin: host });
  return {
    daemon: daemon.daemon,
    request: (method, path, body) =>
      method === 'GET' ? daemon.request(method, at(path)) : daemon.request(method, path, withOrigin(body)),
    get: (path, schema) => daemon.get(at(path), schema),
    post: (path, body, schema) => daemon.post(path, withOrigin(body), schema),
  };
}
