import { WRITE_LIMITS } from '../contract/document-limits.ts';
import type { fleetEvents } from '../contract/threads/fleet.ts';
import { type Destination, notForwarded, type Route, type Routing } from '../http/routing.ts';
import type { Notices } from './callers.ts';

/** This host, and the names of the configured remotes: null until the fleet has published them. */
export type KnownHosts = { host: string; remotes: ReadonlySet<string> | null };

const LOCAL: Destination = { kind: 'local' };

/** Where a request is answered (RTE-2 to RTE-7); `named` is the host that it names. */
export function decideRoute(
  routing: Routing,
  named: string | undefined,
  { host, remotes }: KnownHosts,
): Destination {
  if (routing === 'local' || routing === 'fan-in') return LOCAL;
  if (named === undefined || named === host) return LOCAL;
  if (named.length > WRITE_LIMITS.reference_chars)
    return refused(
      'invalid_request',
      `The origin is longer than the ${WRITE_LIMITS.reference_chars} characters that a name may have.`,
      { issues: [] },
    );
  // Whoever asks for a transcript learns in the answer that a host cannot be placed (RPL-12).
  if (typeof routing === 'object') return { kind: 'remote', host: named };
  if (remotes === null)
    return refused(
      'component_unavailable',
      `Whether "${named}" is another host is not known yet: remotes.json has not been read; try again shortly, or see: svc doctor`,
      { component: 'fleet' },
    );
  if (remotes.has(named))
    return routing === 'host-scoped' ? notForwarded(named) : { kind: 'remote', host: named };
  if (routing === 'owner') return LOCAL;
  return refused('unknown_host', `No host "${named}" is known here; this is ${host}.`, { origin: named });
}

function refused(code: string, message: string, details: Record<string, unknown>): Destination {
  return { kind: 'refused', code, message, details };
}

/** Decides from the remotes that the fleet published last, so that no request waits for the fleet. */
export function createRoute(fleet: Notices<typeof fleetEvents>, host: string): Route {
  let remotes: ReadonlySet<string> | null = null;
  fleet.onEvent('remotes_changed', ({ names }) => {
    remotes = new Set(names);
  });
  return (routing, named) => decideRoute(routing, named, { host, remotes });
}
