import type { Run } from './runs.ts';
import type { World } from './world.ts';

/**
 * Ends a worker on request: its session by tmux's stable id, then its process tree. What cannot be told is
 * left to the reconciler, which frees the fiber only when it has seen the worker gone.
 */
export async function endWorker(world: World, run: Pick<Run, 'launch_id' | 'mux_session'>): Promise<void> {
  const agent = world.launches.agent(run.launch_id);
  const listing = await world.mux.list();
  const session =
    listing.kind === 'alive' ? listing.sessions.find((one) => one.name === run.mux_session) : undefined;
  if (session !== undefined && session.panes <= 1) await world.mux.kill(session);
  if (agent.kind === 'found') await world.processes.end(agent.value);
  else if (session !== undefined) await world.mux.kill(session);
}
