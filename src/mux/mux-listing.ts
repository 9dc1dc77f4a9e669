import { CodedError } from '../base/errors.ts';
import type { Mux, MuxListing, MuxSession } from './mux.ts';

/** The sessions of a listing; none where there is no server, or where its answer is not known. */
export function sessionsOf(listing: MuxListing): readonly MuxSession[] {
  return listing.kind === 'alive' ? listing.sessions : [];
}

/** The session of that name; where the server's answer is not known, undefined does not prove that there is none. */
export function sessionNamed(listing: MuxListing, name: string): MuxSession | undefined {
  return sessionsOf(listing).find((session) => session.name === name);
}

/** What the server answers now. Throws `mux_unavailable` where that is not known. */
export async function requireListing(
  mux: Pick<Mux, 'list'>,
): Promise<Exclude<MuxListing, { kind: 'unknown' }>> {
  const listing = await mux.list();
  if (listing.kind === 'unknown')
    throw new CodedError('mux_unavailable', `tmux did not list its sessions (${listing.detail}); try again`);
  return listing;
}
