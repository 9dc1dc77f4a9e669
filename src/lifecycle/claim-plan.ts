import type { FiberDocument } from '../contract/fiber.ts';
import type { PlannedEdit } from './planned-edit.ts';
import { planDispatch } from './run-transitions.ts';

/** The session that a claim makes the fiber's worker. */
export type ClaimMarkers = {
  session_uuid: string | null;
  harness: string;
  run_id: string;
  agent: string;
  host: string;
  project_dir: string;
  /** Launch id of a recording (FIB-11); undefined keeps the one in the document. */
  meeting: string | undefined;
  /** Of an app conversation (WRK-4). */
  thread_id?: string;
  daemon: string;
};

/**
 * Records a claimed session in the document (WPL-5) in the same way as a dispatch. The service block, agent and
 * directory of the session are written only if the document has none. `status` is unchanged, since a claim does not arm
 * the fiber.
 */
export function planClaim(document: FiberDocument, markers: ClaimMarkers, now: number): PlannedEdit {
  const { svc } = document;
  const { set, unset } = planDispatch(document, markers, now);
  if (svc?.kind === undefined) set['svc.kind'] = 'oneshot';
  if (svc?.host === undefined) set['svc.host'] = markers.host;
  if (svc?.agent === undefined) set['svc.agent'] = markers.agent;
  if (document.project_dir === undefined) set['svc.project_dir'] = markers.project_dir;
  if (markers.meeting !== undefined) set['svc.runtime.meeting'] = markers.meeting;
  return { set, unset };
}
