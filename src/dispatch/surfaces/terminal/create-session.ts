import { messageOf } from '../../../base/errors.ts';
import type { Created } from '../../../mux/mux.ts';
import type { RunManifest } from '../../run-directory/run-records.ts';
import { runScriptCommand } from '../../run-directory/run-script.ts';
import type { World } from '../../world/world.ts';

/** Creates the session in which the script of a run directory runs. Never rejects. */
export function createSession(
  { mux, runDirectories }: Pick<World, 'mux' | 'runDirectories'>,
  { launch_id, mux_session, project_dir }: Pick<RunManifest, 'launch_id' | 'mux_session' | 'project_dir'>,
): Promise<Created> {
  const command = runScriptCommand(runDirectories.directory(launch_id));
  return mux
    .create({ name: mux_session, cwd: project_dir, command })
    .catch((error) => ({ kind: 'failed', code: 'mux_unavailable', detail: messageOf(error) }));
}
