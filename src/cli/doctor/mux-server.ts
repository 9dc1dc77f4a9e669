import { isCoded } from '../../base/errors.ts';
import { stateSchema } from '../../contract/http/state.ts';
import { createDaemonClient } from '../daemon-client.ts';
import { type Check, type Finding, ok, warn } from './check.ts';

/** What roots the running tmux server [MUX-4], as the daemon sees it; nothing while no daemon answers. */
export const checkMuxServer: Check = async ({ daemon: found }) => {
  if (found.kind !== 'running') return [];
  try {
    const { poll_health, incidents } = await createDaemonClient(found.daemon).get('/state', stateSchema);
    return [...owner(poll_health.mux.owner), ...incidents.map(incident)];
  } catch (error) {
    // That the daemon does not answer is told by another check.
    if (isCoded(error)) return [];
    throw error;
  }
};

function owner(found: { kind: string; name: string | null }): Finding[] {
  if (found.kind === 'daemon_born')
    return [
      warn(
        'tmux server',
        `daemon_born: it belongs to the daemon’s own service (${found.name}) and ends with it, with all workers`,
        'when no worker runs, end the server and start one from your own terminal: tmux new-session -d -s svc-anchor',
      ),
    ];
  if (found.kind === 'user_born') return [ok('tmux server', `user_born: ${found.name}`)];
  if (found.kind === 'absent') return [ok('tmux server', 'absent: one is started with the first worker')];
  return [ok('tmux server', 'unknown: the system does not tell what started it')];
}

function incident({ id, fibers }: { id: string; fibers: readonly unknown[] }): Finding {
  return warn(
    'incident',
    `${fibers.length} workers went down together (${id})`,
    `start them again with: svc incident resume ${id}`,
  );
}
