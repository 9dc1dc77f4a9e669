import { CodedError } from '../base/errors.ts';
import type { Mux, MuxListing, MuxPane, MuxSession, PaneAddress } from './mux.ts';

/** The sessions of a listing; none where there is no server, or where its answer is not known. */
export function sessionsOf(listing: MuxListing): readonly MuxSession[] {
  return listing.kind === 'alive' ? listing.sessions : [];
}

/** The session of that name; where the server's answer is not known, undefined does not prove that there is none. */
export function sessionNamed(listing: MuxListing, name: string): MuxSession | undefined {
  return sessionsOf(listing).find((session) => session.name === name);
}

/** A pane with the session that it is in now. */
export type PaneInSession = { session: MuxSession; pane: MuxPane };

/** The panes of a listing. */
export function panesOf(listing: MuxListing): PaneInSession[] {
  return sessionsOf(listing).flatMap((session) => session.panes.map((pane) => ({ session, pane })));
}

/** The pane that we made for this launch, in whatever session it is now; one whose process lives comes first. */
export function paneOfLaunch(listing: MuxListing, launch_id: string): PaneInSession | undefined {
  const made = panesOf(listing).filter(({ pane }) => pane.launch_id === launch_id);
  return made.find(({ pane }) => !pane.dead) ?? made[0];
}

/** The address of a pane that can be read and typed into; null for one without a living process. */
export function addressOf({ id, pid, dead }: MuxPane): PaneAddress | null {
  return dead || pid === null ? null : { id, pid };
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
