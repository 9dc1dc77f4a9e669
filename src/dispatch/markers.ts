import { CodedError } from '../base/errors.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import type { Authority } from './run-id.ts';
import type { Run } from './runs.ts';
import type { DocumentChange } from './world.ts';

/**
 * What one launch writes into its document, in one write: the dispatch markers (FIB-9), and for a document
 * that is not armed the arming (LIF-3, LIF-4). A different `project_dir` is saved with it (WPL-1). The poller
 * has no authority to arm: a document that was disarmed a moment ago is a `conflict`.
 */
export function markersOf(document: FiberDocument, run: Run, authority: Authority): DocumentChange {
  if (authority.kind === 'poll' && document.status !== 'active')
    throw new CodedError('conflict', `${document.id} is no longer armed`);
  const set: Record<string, unknown> = {
    'svc.runtime.dispatched_at': new Date(run.started_at).toISOString(),
    'svc.runtime.harness': run.harness,
    'svc.runtime.run_id': run.run_id,
  };
  const unset: string[] = [];
  if (run.session_uuid === null) unset.push('svc.runtime.session_uuid');
  else set['svc.runtime.session_uuid'] = run.session_uuid;
  if (document.project_dir !== run.project_dir) set['svc.project_dir'] = run.project_dir;
  if (document.status !== 'active') set.status = 'active';
  if (document.tempered !== undefined) unset.push('tempered');
  return { set, unset };
}

/** True when the worker of the last dispatch handed off after it started (RES-2). */
export function handedOff(document: FiberDocument): boolean {
  const runtime = document.svc?.runtime;
  const [dispatched, handed] = [timeOf(runtime?.dispatched_at), timeOf(runtime?.handed_off_at)];
  return handed !== null && (dispatched === null || handed > dispatched);
}

/** A document's time in milliseconds; null when it is absent or unreadable. */
export function timeOf(text: string | undefined): number | null {
  const at = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? null : at;
}
