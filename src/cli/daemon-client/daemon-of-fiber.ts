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
 * Asks the daemon for something about a fiber, by its canonical id or uid: of this host first, so that one that is here costs
 * no other request. Where it is refused with `fiber_not_found`, the same is asked of the other host that has the fiber; with
 * `host`, of that host alone. Throws `unknown_host`, and `ambiguous_fiber` where several other hosts have it.
 */
export async function askForFiber<T>(
  context: CliContext,
  { fiber, host }: { fiber: string; host: string | undefined },
  ask: (of: DaemonOfFiber) => Promise<T>,
): Promise<T> {
  const daemon = await connectDaemon(readSettings(context.env));
  if (host !== undefined) return ask(await atHost(daemon, host));
  try {
    return await ask({ daemon, host: null });
  } catch (error) {
    if (!isCoded(error, 'fiber_not_found')) throw error;
    const name = await otherHostOf(daemon, fiber);
    if (name === null) throw error;
    context.err(`svc: ${fiber} is on ${name}\n`);
    return ask({ daemon: forHost(daemon, name), host: name });
  }
}

/** The row of a fiber, and who is to be asked for more of it; throws `fiber_not_found` too. */
export function readFiber(
  context: CliContext,
  fiber: string,
  host?: string,
): Promise<DaemonOfFiber & { fiber: FiberRow }> {
  return askForFiber(context, { fiber, host }, async (of) => ({
    ...of,
    ...(await of.daemon.get(`/fibers/${fiberPath(fiber)}`, fiberReplySchema)),
  }));
}

async function atHost(daemon: DaemonClient, host: string): Promise<DaemonOfFiber> {
  // An origin that nobody knows is taken for this host, whose own fiber of that name would be meant.
  const { host: own, fleet } = await daemon.get('/state', hostsSchema);
  if (host === own) return { daemon, host: null };
  if (fleet?.remotes.some(({ name }) => name === host) === true)
    return { daemon: forHost(daemon, host), host };
  throw new CodedError('unknown_host', `no host "${host}" is known here; see: svc remotes list`);
}

/** The other host that has a fiber; null where none is known to. */
async function otherHostOf(daemon: DaemonClient, fiber: string): Promise<string | null> {
  const places = await daemon.get('/fibers/composite', placesSchema).catch(() => null);
  const [only = null, ...others] = places === null ? [] : otherHostsOf(fiber, places);
  if (others.length === 0) return only;
  throw new CodedError(
    'ambiguous_fiber',
    `${fiber} is on the hosts ${[only, ...others].join(', ')}; name the one that is meant with --host`,
  );
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
