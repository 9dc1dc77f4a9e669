import type { FiberDocument } from '../../contract/fiber.ts';
import { type Rehearsal, rehearsal } from '../../contract/http/rehearsal.ts';
import { rehearsedDocuments } from '../../fibers/rehearsed-write.ts';
import { markersOf } from '../edits/start-markers.ts';
import type { PlannedRun } from '../plan/planned-run.ts';
import { isAppRun, NEW_CONVERSATION } from '../run/app-run.ts';
import type { Run } from '../run/run.ts';
import type { Authority } from '../run/run-id.ts';
import { workerName } from '../run/runs.ts';
import { shownArgv } from '../run-directory/run-script.ts';
import { namesOf } from '../surfaces/app/app-start.ts';
import { composeStart } from '../surfaces/terminal/terminal-start.ts';
import type { World } from '../world/world.ts';

/** What the start of a planned run writes and runs; writes nothing. */
export async function showStart(
  world: World,
  document: FiberDocument,
  planned: PlannedRun,
  authority: Authority,
  confirmed_dir: string | undefined,
  earlier: Run | undefined,
): Promise<Rehearsal> {
  const { run, plan, prompt } = planned;
  const begins = isAppRun(run) && run.app.thread_id === null;
  const marked = await world.documents.planChange(document, (current) => {
    const markers = markersOf(document, current, run, authority, {
      daemon: world.daemonId,
      confirmed_dir,
    });
    // A conversation that is begun is named in a second write, once the app server has given it its id.
    return begins ? { ...markers, set: { ...markers.set, ...namesOf(NEW_CONVERSATION) } } : markers;
  });
  const first = earlier === undefined ? '' : `end the worker ${workerName(earlier)}, then `;
  return rehearsal(
    `${first}start ${isAppRun(run) ? 'a conversation of ' : ''}${run.agent} for ${run.fiber_id} in ${run.project_dir}`,
    {
      documents: rehearsedDocuments(marked),
      prompt,
      command: isAppRun(run)
        ? null
        : {
            argv: shownArgv(plan.argv),
            cwd: run.project_dir,
            env: Object.keys(composeStart(world, document, planned).env).sort(),
            mux_session: run.mux_session,
          },
      ends: earlier === undefined ? [] : [workerName(earlier)],
      minted: {
        launch_id: run.launch_id,
        run_id: run.run_id,
        ...(begins ? { session_uuid: NEW_CONVERSATION } : {}),
        ...(run.session_uuid === null ? {} : { session_uuid: run.session_uuid }),
        at: new Date(run.started_at).toISOString(),
      },
    },
  );
}
