import type { MuxListing, MuxSession } from '../../mux/mux.ts';
import { sessionsOf } from '../../mux/mux-listing.ts';
import type { ProcessLife } from '../../platform/process-facts.ts';
import type { AgentPid, ExitRecord, FileRead, RunManifest } from '../run-directory/run-records.ts';

/** tmux tells whole seconds, cut off. */
export const CREATED_SLACK_MS = 1_000;

/** What is known of the agent's process; `unrecorded`: the run script has not written who it is. */
export type AgentFact = ProcessLife | 'unrecorded';

export type LivenessFacts = {
  /** As `Mux.list` gave it: what it says is missing was looked for twice. */
  listing: MuxListing;
  manifest: Pick<RunManifest, 'mux_session' | 'state' | 'dispatched_at' | 'boot_id'>;
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

/** Whether a run lives. The agent's own process is the first witness, the session's existence the last. */
export function assessLiveness(facts: LivenessFacts): Liveness {
  const { listing, manifest, boot_id, agent, exit } = facts;
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
  const session = sessionsOf(listing).find((candidate) => mayBeOf(candidate, manifest));
  if (session === undefined) {
    // Between claim and spawn there is no session yet.
    if (manifest.state === 'claimed' && young && agent === 'unrecorded') return { kind: 'starting' };
    return { kind: 'ended', why: 'session_gone' };
  }
  if (session.pane_dead) return { kind: 'ended', why: 'pane_dead' };
  if (agent === 'unrecorded') {
    return young ? { kind: 'starting' } : { kind: 'unknown', why: 'agent_unrecorded' };
  }
  return { kind: 'unknown', why: 'agent_unknown' };
}

/**
 * Whether a session may be the one of this start. A claim that is not known to have become a session is not
 * taken for one that was there before it: what an earlier worker left behind has the same name.
 */
export function mayBeOf(
  session: Pick<MuxSession, 'name' | 'created_at'>,
  manifest: Pick<RunManifest, 'mux_session' | 'state' | 'dispatched_at'>,
): boolean {
  if (session.name !== manifest.mux_session) return false;
  return manifest.state !== 'claimed' || session.created_at > manifest.dispatched_at - CREATED_SLACK_MS;
}

/** The agent fact from `agent.pid` and what the kernel says of that process. */
export function agentFact(recorded: FileRead<AgentPid>, life: ProcessLife | null): AgentFact {
  if (recorded.kind === 'none') return 'unrecorded';
  if (recorded.kind === 'unknown' || life === null) return 'unknown';
  return life;
}
