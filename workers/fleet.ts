import type { Settings } from '../src/config/settings.ts';
import { fleetCalls, fleetEvents } from '../src/contract/threads/fleet.ts';
import { createFleetService } from '../src/fleet/fleet-service.ts';
import { createRemoteReach } from '../src/fleet/remote-reach.ts';
import { remotesPath } from '../src/fleet/remotes-file.ts';
import { runComponent } from '../src/threads/worker-main.ts';

await runComponent<Settings, typeof fleetCalls, typeof fleetEvents>({
  name: 'fleet',
  calls: fleetCalls,
  events: fleetEvents,
  async start({ settings, logger }) {
    const service = createFleetService({ remotes_file: remotesPath(settings), logger });
    const reach = createRemoteReach({ remotes_file: remotesPath(settings) });
    return {
      handlers: {
        state: () => service.state(),
        ssh_target: ({ host }) => reach.sshTarget(host),
        resume_session: ({ host, session }) => reach.resumeSession(host, session),
      },
      stop: async () => undefined,
    };
  },
});
