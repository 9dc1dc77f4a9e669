import { isCoded } from '../../../base/errors.ts';
import { stateSchema } from '../../../contract/http/state.ts';
import { ensureRuntimeFolder } from '../../../platform/runtime-folder.ts';
import { createDaemonClient } from '../../daemon-client/client.ts';
import { type Check, type Finding, fail, ok, warn } from './check.ts';

/** Whether the daemon may dispatch from its stores and still has its data folder; the folder of the leases. */
export const checkLeases: Check = async ({ env, settings, daemon: found }) => [
  runtimeFolder(settings.runtime_dir, env),
  ...(found.kind === 'running' ? await askDaemon(found.daemon) : []),
];

function runtimeFolder(set: string | null, env: NodeJS.ProcessEnv): Finding {
  try {
    return ok('runtime folder', ensureRuntimeFolder(set, env));
  } catch (error) {
    if (!isCoded(error)) throw error;
    return fail('runtime folder', error.message, 'the daemon does not start before it is fixed');
  }
}

async function askDaemon(daemon: Parameters<typeof createDaemonClient>[0]): Promise<Finding[]> {
  try {
    const { poll_health, data_dir, brake } = await createDaemonClient(daemon).get('/state', stateSchema);
    return [
      ...poll_health.stores.flatMap(({ held_back }) =>
        held_back === null ? [] : [warn('lease', held_back.message, held_back.mend)],
      ),
      ...(data_dir.fault === null
        ? []
        : [fail('data folder', data_dir.fault, 'restore the folder, or run: svc daemon restart')]),
      ...(brake.fault === undefined
        ? []
        : [warn('emergency brake', brake.fault, 'then run svc stop-all once more')]),
    ];
  } catch (error) {
    // Another check reports a daemon that does not answer.
    if (isCoded(error)) return [];
    throw error;
  }
}
