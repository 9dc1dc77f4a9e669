import { CodedError } from '../base/errors.ts';

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
