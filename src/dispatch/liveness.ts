import type { MuxListing } from '../mux/mux.ts';

/** What the world told of one recorded launch. */
export type LifeSigns = {
  listing: MuxListing;
  /** Name of the worker's session. */
  mux_session: string;
  /** The agent's own process; null while the run script has not told which it is. */
  agent: 'alive' | 'gone' | 'unknown' | null;
  /** The run script has written how it ended. */
  exited: boolean;
  /** The machine was started anew since the launch. */
  rebooted: boolean;
};

export type Life = 'alive' | 'starting' | 'ended' | 'unknown';

/**
 * Whether a worker lives. Its process decides, not its session's name (P3); what cannot be told is
 * `unknown` and counts as alive for whoever would start another (P4).
 */
export function judgeLife(signs: LifeSigns): Life {
  if (signs.rebooted) return 'ended';
  if (signs.agent === 'alive') return 'alive';
  if (signs.exited) return 'ended';
  const session = sessionOf(signs);
  if (signs.agent === 'gone') return session === 'unknown' ? 'unknown' : 'ended';
  if (session === 'gone') return signs.agent === 'unknown' ? 'unknown' : 'ended';
  if (session === 'unknown') return 'unknown';
  return signs.agent === null ? 'starting' : 'unknown';
}

function sessionOf(signs: LifeSigns): 'present' | 'gone' | 'unknown' {
  if (signs.listing.kind === 'unknown') return 'unknown';
  if (signs.listing.kind === 'absent') return 'gone';
  const session = signs.listing.sessions.find((one) => one.name === signs.mux_session);
  return session === undefined || session.pane_dead ? 'gone' : 'present';
}
