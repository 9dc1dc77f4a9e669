import type { ProcessIdentity } from '../../../platform/process-facts.ts';
import { paneOfRun } from '../../run/liveness.ts';
import type { Run } from '../../run/run.ts';
import type { World } from '../../world/world.ts';

/**
 * Ends a worker on request: its process tree first, while it can still be told what belongs to it, then the session that
 * its pane is in by tmux's stable id, unless a person opened more panes there. An agent that was recorded only meanwhile is
 * ended last: the hang-up of its session does not end every program. What cannot be told is left to the reconciler,
 * which frees the fiber only when it has seen the worker gone. `silence`: what tmux said in place of its sessions.
 */
export async function endWorker(
  world: World,
  run: Pick<Run, 'launch_id' | 'mux_session' | 'claim' | 'pane'>,
): Promise<{ silence: string | null }> {
  const recorded = await endAgent(world, run);
  // The session of a person is theirs: only its agent was the worker.
  if (run.claim === 'person') return { silence: null };
  const listing = await world.mux.list();
  const found = paneOfRun(run, listing);
  const is_shared = found !== undefined && found.session.panes.length > 1;
  if (found !== undefined && !is_shared) await world.mux.kill(found.session);
  if (!recorded && !(await endAgent(world, run)) && is_shared && found.pane.pid !== null) {
    // The agent has not told who it is: its pane is all that can be the worker.
    const first: ProcessIdentity | null = await world.processes.identify(found.pane.pid);
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
