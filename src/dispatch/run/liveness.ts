import type { MuxListing, MuxPane } from '../../mux/mux.ts';
import { addressOf, type PaneInSession, paneOfLaunch, panesOf, sessionNamed } from '../../mux/mux-listing.ts';
import type { ProcessLife } from '../../platform/process-facts.ts';
import type { AgentPid, ExitRecord, FileRead, RunManifest } from '../run-directory/run-records.ts';
import type { Run } from './run.ts';

/**
 * The pane that the agent of a run is in, with the session that it is in now. It is the one that tmux started our script of
 * this launch in, or the one of a person's session that was claimed: no name proves it.
 */
export function paneOfRun(
  { launch_id, claim, pane, mux_session }: Pick<Run, 'launch_id' | 'claim' | 'pane' | 'mux_session'>,
  listing: MuxListing,
): PaneInSession | undefined {
  if (claim !== 'person') return paneOfLaunch(listing, launch_id);
  if (pane !== undefined)
    return panesOf(listing).find((one) => one.pane.id === pane.id && one.pane.pid === pane.pid);
  // Older builds did not record which pane it was.
  const session = sessionNamed(listing, mux_session);
  const first = session?.panes.find((one) => addressOf(one) !== null);
  return session === undefined || first === undefined ? undefined : { session, pane: first };
}

/** What is known of the agent's process; `unrecorded`: the run script has not written who it is. */
export type AgentFact = ProcessLife | 'unrecorded';

export type LivenessFacts = {
  /** As `Mux.list` gave it: what it says is missing was looked for twice. */
  listing: MuxListing;
  /** The pane of the run in that listing. */
  pane: Pick<MuxPane, 'dead'> | undefined;
  manifest: Pick<RunManifest, 'state' | 'dispatched_at' | 'boot_id'>;
  /** This boot; null where the OS does not tell. */
  boot_id: string | null;
  agent: AgentFact;
  exit: FileRead<ExitRecord>;
  now: number;
  /** Milliseconds a start may take from its claim to a recorded agent. */
  startup_ms: number;
};

export type Liveness =
  | { kind: 'alive' }
  | { kind: 'starting' }
  /** Only from what was seen: never because something did not answer. */
  | { kind: 'ended'; why: 'exit_recorded' | 'agent_gone' | 'session_gone' | 'pane_dead' | 'rebooted' }
  | { kind: 'unknown'; why: 'no_answer' | 'agent_unknown' | 'agent_unrecorded' };

/** Whether a run lives. The agent's own process is the first witness, its pane the last. */
export function assessLiveness(facts: LivenessFacts): Liveness {
  const { listing, pane, manifest, boot_id, agent, exit } = facts;
  if (manifest.boot_id !== null && boot_id !== null && manifest.boot_id !== boot_id) {
    return { kind: 'ended', why: 'rebooted' };
  }
  if (agent === 'alive') return { kind: 'alive' };
  if (exit.kind === 'found') return { kind: 'ended', why: 'exit_recorded' };
  if (agent === 'gone') return { kind: 'ended', why: 'agent_gone' };

  // A claim from well ahead of now was made before the clock was turned back: nobody waits for that time to come.
  const young = Math.abs(facts.now - manifest.dispatched_at) < facts.startup_ms;
  if (listing.kind === 'unknown') {
    return young && agent === 'unrecorded' ? { kind: 'starting' } : { kind: 'unknown', why: 'no_answer' };
  }
  if (pane === undefined) {
    // Between claim and spawn there is no session yet.
    if (manifest.state === 'claimed' && young && agent === 'unrecorded') return { kind: 'starting' };
    return { kind: 'ended', why: 'session_gone' };
  }
  if (pane.dead) return { kind: 'ended', why: 'pane_dead' };
  if (agent === 'unrecorded') {
    return young ? { kind: 'starting' } : { kind: 'unknown', why: 'agent_unrecorded' };
  }
  return { kind: 'unknown', why: 'agent_unknown' };
}

/** The agent fact from `agent.pid` and what the kernel says of that process. */
export function agentFact(recorded: FileRead<AgentPid>, life: ProcessLife | null): AgentFact {
  if (recorded.kind === 'none') return 'unrecorded';
  if (recorded.kind === 'unknown' || life === null) return 'unknown';
  return life;
}
