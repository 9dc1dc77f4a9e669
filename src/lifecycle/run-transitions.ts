import { CodedError } from '../base/errors.ts';
import { shellWord } from '../base/shell-word.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import { armed, type PlannedEdit, requireProjectDir, stamp } from './planned-edit.ts';

/** The run that a dispatch starts. */
export type DispatchMarkers = {
  /** Null until the harness reports the id that it assigned. */
  session_uuid: string | null;
  harness: string;
  run_id: string;
  thread_id?: string;
  /** The daemon that begins the run, for other daemons of the same host id. */
  daemon: string;
};

/**
 * Arms a document for a forced dispatch, whatever its status (LIF-3, LIF-4); `project_dir` is confirmed by a person and
 * saved in the same write (WPL-1). Throws `arm_refused` for a fiber without a svc block.
 */
export function planArm(document: FiberDocument, options: { project_dir?: string } = {}): PlannedEdit | null {
  if (document.svc === undefined) {
    throw new CodedError(
      'arm_refused',
      `"${document.id}" has no svc block; make it a service with "svc install ${shellWord(document.id)} --project-dir <dir>" first`,
    );
  }
  const set: PlannedEdit['set'] = {};
  if (options.project_dir !== undefined && options.project_dir !== document.svc.project_dir) {
    set['svc.project_dir'] = requireProjectDir(document, options.project_dir);
  }
  const isArmed =
    document.status === 'active' && document.tempered === undefined && document.closed_at === undefined;
  if (isArmed && Object.keys(set).length === 0) return null;
  const edit = armed({ set, unset: [] });
  return { set: edit.set, unset: [...edit.unset, 'closed-at'] };
}

/**
 * Marks a launch in the document (LIF-1, FIB-9); ids of an earlier run are removed. An earlier handoff with a time
 * after this launch, from a wrong clock, is removed too, because it would count as the handoff of this run. A standing
 * role keeps it, since it records which occurrences were served. The outcome of a role that accepts by itself is set
 * aside: what it has at its end is of this run.
 */
export function planDispatch(document: FiberDocument, markers: DispatchMarkers, now: number): PlannedEdit {
  const set: PlannedEdit['set'] = {
    'svc.runtime.dispatched_at': stamp(now),
    'svc.runtime.harness': markers.harness,
    'svc.runtime.run_id': markers.run_id,
    'svc.runtime.daemon': markers.daemon,
  };
  const unset: string[] = [];
  const handed = Date.parse(document.svc?.runtime?.handed_off_at ?? '');
  if (handed >= now && document.svc?.kind !== 'standing') unset.push('svc.runtime.handed_off_at');
  // Only so can be told whether the outcome that a run leaves is its own.
  if (
    document.svc?.kind === 'standing' &&
    document.svc.auto_accept === true &&
    document.outcome !== undefined
  ) {
    set['svc.runtime.previous_outcome'] = document.outcome;
    unset.push('outcome');
  }
  if (markers.session_uuid === null) unset.push('svc.runtime.session_uuid');
  else set['svc.runtime.session_uuid'] = markers.session_uuid;
  if (markers.thread_id === undefined) unset.push('svc.runtime.thread_id');
  else set['svc.runtime.thread_id'] = markers.thread_id;
  return { set, unset };
}

/** Records the session id that a harness reported later; no change if another run has begun since. */
export function planLearnedSession(
  document: FiberDocument,
  learned: { run_id: string; session_uuid: string },
): PlannedEdit | null {
  const runtime = document.svc?.runtime;
  if (runtime?.run_id !== learned.run_id || runtime.session_uuid === learned.session_uuid) return null;
  return { set: { 'svc.runtime.session_uuid': learned.session_uuid }, unset: [] };
}

/**
 * The edit after the end of a worker: a standing role closes and awaits review (LIF-5), a pinned role, which is started
 * by hand, is parked, a oneshot is unchanged. A standing role with `auto_accept` whose run was `faultless` and left an
 * outcome closes and is accepted in one write: it is armed, and stamped as served (LIF-6).
 */
export function planConclude(
  document: FiberDocument,
  { faultless }: { faultless: boolean },
  now: number,
): PlannedEdit | null {
  if (document.status !== 'active') return null;
  if (isAcceptedByItself(document, { faultless }))
    return { set: { 'svc.runtime.handed_off_at': stamp(now) }, unset: ['tempered', 'closed-at'] };
  if (document.svc?.kind === 'standing')
    return { set: { status: 'closed', 'closed-at': stamp(now) }, unset: ['tempered'] };
  if (document.svc?.kind === 'pinned') return { set: { status: 'open' }, unset: ['tempered'] };
  return null;
}

/** True where `planConclude` accepts the run of this document. */
export function isAcceptedByItself(
  { status, svc, outcome }: FiberDocument,
  { faultless }: { faultless: boolean },
): boolean {
  return (
    faultless &&
    status === 'active' &&
    svc?.kind === 'standing' &&
    svc.auto_accept === true &&
    (outcome ?? '').trim() !== ''
  );
}
