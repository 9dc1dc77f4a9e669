import type { MuxListing, MuxSession } from '../../../mux/mux.ts';
import type { Run } from '../../run/run.ts';
import type { World } from '../../world/world.ts';

/**
 * The session in which the agent of a run is found although no session has the run's name any more, because a person
 * renamed it; null where there is none or nobody can tell.
 */
export async function findRenamedSession(
  world: Pick<World, 'runDirectories' | 'processes'>,
  run: Pick<Run, 'launch_id' | 'mux_session'>,
  listing: MuxListing,
): Promise<MuxSession | null> {
  if (listing.kind !== 'alive' || listing.sessions.some(({ name }) => name === run.mux_session)) return null;
  const agent = world.runDirectories.agent(run.launch_id);
  if (agent.kind !== 'found') return null;
  for (const session of listing.sessions) {
    if (session.pane_dead || session.pane_pid === null) continue;
    const commands = await world.processes.commands(session.pane_pid);
    if (commands?.some(({ pid }) => pid === agent.value.pid)) return session;
  }
  return null;
}
