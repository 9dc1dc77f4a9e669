import type { Clock } from '../base/clock.ts';
import { WRITE_LIMITS } from '../contract/document-limits.ts';
import { MOST_HOPS } from '../contract/http/forwarding.ts';
import { addressFault } from '../contract/remote-address.ts';
import {
  type fleetCalls,
  type fleetEvents,
  type Remote,
  type SilentRemote,
  silenceFault,
  silenceSchema,
} from '../contract/threads/fleet.ts';
import type { Destination, Route, Routing } from '../http/routing.ts';
import type { Caller, Notices } from './callers.ts';

/** This host, and the configured remotes by name: null until the fleet has published them. */
export type KnownHosts = {
  host: string;
  remotes: ReadonlyMap<string, Remote> | null;
  /** Those that answer nobody now, by name. */
  silent: ReadonlyMap<string, SilentRemote>;
  /** In milliseconds since the Unix epoch. */
  now: number;
};

const LOCAL: Destination = { kind: 'local' };

/**
 * Where a request is answered (RTE-2 to RTE-7); `named` is the host that it names, `hops` those that passed it on. A host
 * that passes a request on means this one by the name, so a name that this one does not know is not taken for its own.
 */
export function decideRoute(
  routing: Routing,
  named: string | undefined,
  hops: readonly string[],
  { host, remotes, silent, now }: KnownHosts,
  writes = true,
): Destination {
  if (routing === 'local' || routing === 'fan-in') return LOCAL;
  if (named === undefined || named === host) return LOCAL;
  if (named.length > WRITE_LIMITS.reference_chars)
    return refused(
      'invalid_request',
      `The origin is longer than the ${WRITE_LIMITS.reference_chars} characters that a name may have.`,
      { issues: [] },
    );
  const remote = remotes?.get(named);
  const from = hops.at(-1);
  if (remotes !== null && remote === undefined && from !== undefined)
    return refused(
      'misdirected',
      `${from} forwarded a request for "${named}", but this is ${host}; correct the entry of ${named} in remotes.json of ${from}.`,
      { origin: named, host },
    );
  // Whoever asks for a transcript learns in the answer that a host cannot be placed (RPL-12).
  if (typeof routing === 'object' && remote === undefined)
    return { kind: 'remote', host: named, address: null };
  if (remotes === null)
    return refused(
      'component_unavailable',
      `Whether "${named}" is another host is not known yet: remotes.json has not been read; try again shortly, or see: svc doctor`,
      { component: 'fleet' },
    );
  if (remote === undefined)
    return routing === 'owner'
      ? LOCAL
      : refused('unknown_host', `No host "${named}" is known here; this is ${host}.`, { origin: named });
  if (routing === 'host-scoped')
    return refused(
      'not_forwarded',
      `This endpoint is about the machine of ${host} only and is not forwarded; ask the daemon of ${named}.`,
      { origin: named },
    );
  const path = [...hops, host];
  if (hops.includes(host) || path.length > MOST_HOPS)
    return refused(
      'forwarding_loop',
      `The request for "${named}" went from ${path.join(' to ')} and reached no owner; correct the entries of ${named} in their remotes.json.`,
      { origin: named, path },
    );
  if (remote.problem !== null && typeof routing !== 'object') {
    const { code, message } = addressFault(named, remote.problem);
    return refused(code, message, { origin: named });
  }
  const silence = typeof routing === 'object' ? undefined : silent.get(named);
  if (silence !== undefined) {
    const { code, message } = silenceFault(silence, now, writes);
    return refused(code, message, { origin: named });
  }
  return { kind: 'remote', host: named, address: remote.address };
}

function refused(code: string, message: string, details: Record<string, unknown>): Destination {
  return { kind: 'refused', code, message, details };
}

type Fleet = Notices<typeof fleetEvents> & Pick<Caller<typeof fleetCalls>, 'call'>;

/** Decides from the remotes that the fleet published last, so that no request waits for the fleet. */
export function createRoute(fleet: Fleet, host: string, clock: Pick<Clock, 'now'>): Route {
  let remotes: ReadonlyMap<string, Remote> | null = null;
  let silent: ReadonlyMap<string, SilentRemote> = new Map();
  /** Ends what waits for a remote when it is known to answer nobody. */
  const waits = new Map<string, AbortController>();
  fleet.onEvent('remotes_changed', (published) => {
    remotes = new Map(published.remotes.map((remote) => [remote.name, remote]));
    for (const name of waits.keys()) if (!remotes.has(name)) waits.delete(name);
  });
  fleet.onEvent('silent_changed', (told) => {
    silent = new Map(told.silent.map((remote) => [remote.name, remote]));
    for (const name of silent.keys()) {
      waits.get(name)?.abort();
      waits.delete(name);
    }
  });
  return (routing, named, hops, writes) => {
    const known = { host, remotes, silent, now: clock.now() };
    const destination = decideRoute(routing, named, hops, known, writes);
    const is_silent = destination.kind === 'refused' && silenceSchema.safeParse(destination.code).success;
    if (is_silent && named !== undefined) fleet.call('ask_again', { name: named }).catch(() => undefined);
    // Nobody waits for a host without an address, and its name may be any text of a caller.
    if (destination.kind !== 'remote' || destination.address === null) return destination;
    const wait = waits.get(destination.host) ?? new AbortController();
    waits.set(destination.host, wait);
    return { ...destination, silent: wait.signal };
  };
}
