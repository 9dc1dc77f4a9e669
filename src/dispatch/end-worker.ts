import type { Run } from './runs.ts';
import type { World } from './world.ts';

/**
 * Ends a worker on request: its process tree first, while it can still be told what belongs to it, then its
 * session by tmux's stable id unless a person opened more panes in it. What cannot be told is left to the
 * reconciler, which frees the fiber only when it has seen the worker gone.
 */
export async function endWorker(world: World, run: Pick<Run, 'launch_id' | 'mux_session'>): Promise<void> {
  const agent = world.launches.agent(run.launch_id);
  if (agent.kind === 'found') await world.processes.end(agent.value);
  const listing = await world.mux.list();
  if (listing.kind !== 'alive') return;
  const session = listing.sessions.find((one) => one.name === run.mux_session);
  if (session !== undefined && (session.panes <= 1 || agent.kind !== 'found')) await world.mux.kill(session);
}
