import { z } from 'zod';
import { CodedError, isCoded } from '../../base/errors.ts';
import { didYouMean } from '../../base/nearest-words.ts';
import { readSettings } from '../../config/settings.ts';
import type { FiberRow } from '../../contract/fiber.ts';
import { fiberReplySchema } from '../../contract/http/fibers.ts';
import { stateSchema } from '../../contract/http/state.ts';
import { requireSafeId } from '../../fibers/fiber-id.ts';
import { fibersMeant, noFiberCalled, severalCalled } from '../../fibers/fiber-reference.ts';
import type { CliContext } from '../command-line/verb.ts';
import { connectDaemon, createDaemonClient, type DaemonClient } from './client.ts';
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

/**
 * The daemon for requests about one fiber, the other host that they are passed on to (null for this host), and the name
 * by which that host knows the fiber.
 */
export type DaemonOfFiber = { daemon: DaemonClient; host: string | null; fiber: string };

/**
 * Asks the daemon for something about a fiber: of this host first, by the name as it was typed, so that one that is here
 * costs no other request. Where it is refused with `fiber_not_found`, the fiber that is meant is looked for among those of
 * all hosts, or of `host` alone, as `fibersMeant` describes: the daemon itself takes no beginning of an id, since a program
 * that names a fiber which is gone must not get another one. Throws `unknown_host`, and `ambiguous_fiber` where several may
 * be meant.
 */
export async function askForFiber<T>(
  context: CliContext,
  { fiber, host }: { fiber: string; host: string | undefined },
  ask: (of: DaemonOfFiber) => Promise<T>,
): Promise<T> {
  requireSafeId(fiber);
  const daemon = await connectDaemon(readSettings(context.env));
  const first = host === undefined ? { daemon, host: null } : await atHost(daemon, host);
  try {
    return await ask({ ...first, fiber });
  } catch (error) {
    if (!isCoded(error, 'fiber_not_found')) throw error;
    const places = await daemon.get('/fibers/composite', placesSchema).catch(() => null);
    if (places === null) throw error;
    const { host: name, id } = placeMeant(fiber, places, host);
    if (name === places.host) return ask({ daemon, host: null, fiber: id });
    if (host === undefined) context.err(`svc: ${id} is on ${name}\n`);
    return ask({ daemon: forHost(daemon, name), host: name, fiber: id });
  }
}

/** The row of a fiber, and who is to be asked for more of it; throws `fiber_not_found` too. */
export function readFiber(
  context: CliContext,
  fiber: string,
  host?: string,
): Promise<Omit<DaemonOfFiber, 'fiber'> & { fiber: FiberRow }> {
  return askForFiber(context, { fiber, host }, async (of) => ({
    ...of,
    ...(await of.daemon.get(`/fibers/${fiberPath(of.fiber)}`, fiberReplySchema)),
  }));
}

/** The daemon for requests about a host; throws `unknown_host` for one that it does not know. */
export async function atHost(daemon: DaemonClient, host: string): Promise<Omit<DaemonOfFiber, 'fiber'>> {
  // An origin that nobody knows is taken for this host, whose own fiber of that name would be meant.
  const known = await knownHosts(daemon);
  if (host === known[0]) return { daemon, host: null };
  if (known.includes(host)) return { daemon: forHost(daemon, host), host };
  throw noHostCalled(host, known);
}

/** This host first, and its remotes. */
export async function knownHosts(daemon: DaemonClient): Promise<string[]> {
  const { host, fleet } = await daemon.get('/state', hostsSchema);
  return [host, ...(fleet?.remotes.map(({ name }) => name) ?? [])];
}

/** The refusal of a host that nothing here names. */
export function noHostCalled(host: string, known: readonly string[]): CodedError {
  const question = didYouMean(host, known);
  const said = `no host is called ${host}`;
  return new CodedError(
    'unknown_host',
    question === '' ? `${said}; svc remotes list names them` : `${said}.${question}`,
  );
}

/** A fiber as one host knows it. */
type Place = { host: string; id: string; uid: string | null };

/**
 * Where the fiber is that a reference means, of which this host has none of that name: the one of that id or uid on
 * another host, else what a beginning means here, else what it means elsewhere. `only`: the one host to look at. Throws
 * `fiber_not_found` and `ambiguous_fiber`.
 */
export function placeMeant(reference: string, { host: own, origins }: Places, only?: string): Place {
  const all = Object.entries(origins).flatMap(([host, { read }]) =>
    only === undefined || only === host ? (read?.fibers ?? []).map((fiber) => ({ ...fiber, host })) : [],
  );
  const here = all.filter(({ host }) => host === own);
  const away = all.filter(({ host }) => host !== own);
  const searches = [
    () => away.filter(({ id, uid }) => id === reference || uid === reference),
    () => fibersMeant(reference, here),
    () => fibersMeant(reference, away),
  ];
  let found: Place[] = [];
  for (const search of searches) if (found.length === 0) found = search();
  const [first, ...others] = found;
  if (first === undefined)
    throw new CodedError(
      'fiber_not_found',
      noFiberCalled(
        reference,
        all.map(({ id }) => id),
      ),
    );
  if (others.length === 0) return first;
  const message = others.every(({ id }) => id === first.id)
    ? `${first.id} is on the hosts ${found.map(({ host }) => host).join(', ')}; name the one that is meant with --host`
    : severalCalled(
        reference,
        found.map(({ id, host }) => (host === own ? id : `${id} on ${host}`)),
      );
  throw new CodedError('ambiguous_fiber', message);
}

/** The same daemon, which passes every request on to that host. */
function forHost({ daemon }: DaemonClient, host: string): DaemonClient {
  const at = (path: string) => `${path}${path.includes('?') ? '&' : '?'}origin=${encodeURIComponent(host)}`;
  const withOrigin = (body: unknown) => ({ ...(body as object | undefined), origin: host });
  const client = createDaemonClient(daemon, host);
  return {
    daemon,
    request: (method, path, body) =>
      method === 'GET' ? client.request(method, at(path)) : client.request(method, path, withOrigin(body)),
    get: (path, schema) => client.get(at(path), schema),
    post: (path, body, schema) => client.post(path, withOrigin(body), schema),
  };
}
