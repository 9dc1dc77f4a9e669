import type { FiberDocument } from '../../contract/fiber.ts';
import { DEFAULT_SURFACE } from '../../contract/surface.ts';
import { planClaim } from '../../lifecycle/claim-plan.ts';
import type { Run } from '../run/run.ts';
import type { DocumentChange } from '../world/documents.ts';
import type { World } from '../world/world.ts';
import { undoOf } from './start-markers.ts';

/** What the claim of this run writes into its document (WPL-5), on either surface. */
export function claimMarkersOf(
  current: FiberDocument,
  run: Run,
  claim: { host: string; daemon: string; meeting: string | undefined },
): DocumentChange {
  const thread_id = run.app?.thread_id ?? undefined;
  const markers = { ...run, ...claim, ...(thread_id === undefined ? {} : { thread_id }) };
  const plan = planClaim(current, markers, run.started_at);
  return run.surface === DEFAULT_SURFACE
    ? plan
    : { ...plan, set: { ...plan.set, 'svc.surface': run.surface } };
}

/** The same under the document's lock, with what it said before noted in the run directory first. */
export function markClaim(
  { host, daemonId, runDirectories }: Pick<World, 'host' | 'daemonId' | 'runDirectories'>,
  current: FiberDocument,
  run: Run,
  meeting: string | undefined,
): DocumentChange {
  const change = claimMarkersOf(current, run, { host, daemon: daemonId, meeting });
  runDirectories.update(run.launch_id, { undo: undoOf(current, change) });
  return change;
}

/** True where the document does not say yet what this claim says. */
export function needsMark(document: FiberDocument, run: Run, meeting: string | undefined): boolean {
  return !isMarked(document, run) || (meeting !== undefined && document.svc?.runtime?.meeting !== meeting);
}

/** True when the document names this run: all marks of a claim are made in one write. */
export function isMarked(document: FiberDocument, run: Pick<Run, 'run_id'>): boolean {
  return document.svc?.runtime?.run_id === run.run_id;
}
