import { CodedError } from '../base/errors.ts';
import type { Reply, RequestView, Row } from '../http/row.ts';
import type { Callers } from './callers.ts';

/**
 * For host-addressed routes: the subject is a host, so an origin that this daemon cannot place is refused
 * with `unknown_host` rather than answered for the wrong machine (RTE-3).
 */
export function requireThisHost(origin: string | undefined, host: string): void {
  if (origin === undefined || origin === host) return;
  throw new CodedError('unknown_host', `No host "${origin}" is known here; this is ${host}.`, {
    details: { origin },
  });
}

/**
 * This daemon passes no request on. One that is meant for a configured remote is refused with `not_forwarded` before
 * anything is done, so that nothing is read or written on the wrong machine; an origin that names no remote is for
 * the route to judge (RTE-2, RTE-3).
 */
export async function refuseRemote(
  fleet: Callers['fleet'],
  origin: string | undefined,
  host: string,
): Promise<void> {
  if (origin === undefined || origin === host) return;
  const { remotes } = await fleet.call('state', {});
  if (!remotes.some(({ name }) => name === origin)) return;
  throw new CodedError(
    'not_forwarded',
    `"${origin}" is another host, and this daemon (${host}) passes no requests on; ask the daemon of ${origin}.`,
    { details: { origin } },
  );
}

/** The same rows, each refusing what names a configured remote in its query or its JSON body. */
export function keepOffRemotes(rows: readonly Row[], fleet: Callers['fleet'], host: string): Row[] {
  return rows.map((row) => {
    if (row.query === undefined && (row.body === undefined || row.body === 'bytes')) return row;
    const handler = (request: RequestView): Reply | Promise<Reply> => {
      const origin = originOf(request.query) ?? originOf(request.body);
      if (origin === undefined || origin === host) return row.handler(request);
      return refuseRemote(fleet, origin, host).then(() => row.handler(request));
    };
    return { ...row, handler };
  });
}

function originOf(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || !('origin' in input)) return undefined;
  return typeof input.origin === 'string' ? input.origin : undefined;
}
