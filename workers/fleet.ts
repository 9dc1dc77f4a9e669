import type { Settings } from '../src/config/settings.ts';
import { fleetCalls, fleetEvents, type Remote } from '../src/contract/threads/fleet.ts';
import { createFleetService } from '../src/fleet/fleet-service.ts';
import { createRemoteReach } from '../src/fleet/remote-reach.ts';
import { createRemoteTranscripts } from '../src/fleet/remote-transcripts.ts';
import { remotesPath } from '../src/fleet/remotes-file.ts';
import { runComponent } from '../src/threads/worker-main.ts';

await runComponent<Settings, typeof fleetCalls, typeof fleetEvents>({
  name: 'fleet',
  calls: fleetCalls,
  events: fleetEvents,
  async start({ settings, logger, clock, notify }) {
    const remotes_file = remotesPath(settings);
    const publish = (remotes: Remote[]) => notify('remotes_changed', { remotes });
    const service = createFleetService({ remotes_file, publish, clock, logger });
    const reach = createRemoteReach({ remotes_file });
    const transcripts = createRemoteTranscripts(reach);
    return {
      handlers: {
        state: () => service.state(),
        ssh_target: ({ host }) => reach.sshTarget(host),
        resume_session: ({ host, session }) => reach.resumeSession(host, session),
        transcript: ({ host, session }) => transcripts.transcript(host, session),
        session_links: ({ host, sessions }) => transcripts.links(host, sessions),
      },
      stop: async () => service.stop(),
    };
  },
});
