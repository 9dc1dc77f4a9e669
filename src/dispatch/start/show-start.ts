import type { FiberDocument } from '../../contract/fiber.ts';
import { type Rehearsal, rehearsal } from '../../contract/http/rehearsal.ts';
import { rehearsedDocuments } from '../../fibers/rehearsed-write.ts';
import type { WorktreePlace } from '../../platform/git-worktrees.ts';
import { markersOf } from '../edits/start-markers.ts';
import type { PlannedRun } from '../plan/planned-run.ts';
import type { Run } from '../run/run.ts';
import type { Authority } from '../run/run-id.ts';
import { workerName } from '../run/runs.ts';
import { SURFACES } from '../surfaces/surfaces.ts';
import type { World } from '../world/world.ts';
import { changeInto } from './own-worktree.ts';

/** What the start of a planned run writes and runs; writes nothing. */
export async function showStart(
  world: World,
  document: FiberDocument,
  {
    planned,
    earlier,
    worktree,
  }: { planned: PlannedRun; earlier: Run | undefined; worktree: WorktreePlace | null },
  authority: Authority,
  confirmed_dir: string | undefined,
): Promise<Rehearsal> {
  const { run, prompt } = planned;
  const { what, command, names, minted } = SURFACES[run.surface].show(world, document, planned);
  const marked = await world.documents.planChange(document, (current) => {
    const markers = markersOf(document, current, run, authority, {
      daemon: world.daemonId,
      confirmed_dir,
    });
    const moved = worktree === null ? {} : changeInto(worktree).set;
    return { ...markers, set: { ...markers.set, ...moved, ...names } };
  });
  const steps = [
    ...(worktree === null
      ? []
      : [`make the git worktree ${worktree.path} on branch ${worktree.branch}, then `]),
    ...(earlier === undefined ? [] : ['end the worker that runs, then ']),
  ].join('');
  return rehearsal(`${steps}start ${what}${run.agent} for ${run.fiber_id} in ${run.project_dir}`, {
    documents: rehearsedDocuments(marked),
    prompt,
    command,
    ends: earlier === undefined ? [] : [workerName(earlier)],
    minted: {
      launch_id: run.launch_id,
      run_id: run.run_id,
      ...minted,
      ...(run.session_uuid === null ? {} : { session_uuid: run.session_uuid }),
      at: new Date(run.started_at).toISOString(),
    },
  });
}
