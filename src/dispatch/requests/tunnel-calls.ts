import { homedir } from 'node:os';
import { readRemotes } from '../../config/remotes.ts';
import { installTunnels, planTunnels, type TunnelPlan, whatToInstall } from '../../config/tunnels.ts';
import type { TunnelsInstalled, TunnelsRehearsal } from '../../contract/http/fleet.ts';
import type { CallInput } from '../../contract/threads/call-table.ts';
import type { pollerCalls } from '../../contract/threads/poller.ts';
import { rehearsedFiles } from '../../fibers/rehearsed-write.ts';
import type { ProcessRunner } from '../../platform/process.ts';
import type { PollerSettings } from '../world/poller-settings.ts';
import { perform, type Write } from '../world/write.ts';

type Asked = CallInput<typeof pollerCalls, 'write_tunnels'>;

/** `POST /tunnels` (WPL-19): what keeps the tunnels of this host up. */
export function createTunnelCalls({
  settings,
  surroundings: { runner },
}: {
  settings: PollerSettings;
  surroundings: { runner: ProcessRunner };
}) {
  const write: Write<Asked, TunnelPlan, TunnelsRehearsal, TunnelsInstalled> = {
    plan: ({ names }) => {
      const { env, platform } = process;
      const here = { env, platform, home: homedir(), uid: process.geteuid?.() ?? 0, runner };
      return planTunnels(readRemotes(settings).remotes, names, here);
    },
    show: (plan) => ({
      ...rehearsedFiles(whatToInstall(plan), plan.files),
      units: plan.units,
    }),
    apply: async (plan) => ({ units: await installTunnels(plan) }),
  };
  return { install: <Q extends Asked>(asked: Q) => perform(write, asked) };
}
