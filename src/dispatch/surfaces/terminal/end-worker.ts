import type { MuxSession } from '../../../mux/mux.ts';
import { sessionNamed } from '../../../mux/mux-listing.ts';
import type { ProcessIdentity } from '../../../platform/process-facts.ts';
import type { Run } from '../../run/run.ts';
import type { World } from '../../world/world.ts';

/**
 * Ends a worker on request: its process tree first, while it can still be told what belongs to it, then its
 * session by tmux's stable id unless a person opened more panes in it. An agent that was recorded only meanwhile is
 * ended last: the hang-up of its session does not end every program. What cannot be told is left to the reconciler,
 * which frees the fiber only when it has seen the worker gone. `silence`: what tmux said in place of its sessions.
 */
export async function endWorker(
  world: World,
  run: Pick<Run, 'launch_id' | 'mux_session' | 'claim'>,
): Promise<{ silence: string | null }> {
  const recorded = await endAgent(world, run);
  // The session of a person is theirs: only its agent was the worker.
  if (run.claim === 'person') return { silence: null };
  const listing = await world.mux.list();
  const session = sessionNamed(listing, run.mux_session);
  if (session !== undefined && session.panes <= 1) await world.mux.kill(session);
  if (!recorded && !(await endAgent(world, run)) && session !== undefined && session.panes > 1) {
    // The agent has not told who it is: the session's first pane is all that can be the worker.
    const first = await firstPane(world, session);
    if (first !== null) await world.processes.end(first);
  }
  return { silence: listing.kind === 'unknown' ? listing.detail : null };
}

/** False while the run script has not told which process the agent is. */
async function endAgent(world: World, run: Pick<Run, 'launch_id'>): Promise<boolean> {
  const agent = world.runDirectories.agent(run.launch_id);
  if (agent.kind === 'found') await world.processes.end(agent.value);
  return agent.kind === 'found';
}

async function firstPane(world: World, session: MuxSession): Promise<ProcessIdentity | null> {
  return session.pane_pid === null || session.pane_dead ? null : world.processes.identify(session.pane_pid);
}
