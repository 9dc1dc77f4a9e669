import type { FiberDocument } from '../contract/fiber.ts';
import { armed, type PlannedEdit, stamp } from './planned-edit.ts';

/** The facts, besides the document, that the plan of a verb needs. */
export type VerbFacts = {
  /** Host of the machine the verb runs on. */
  this_host: string;
  /** Time zone of this machine, for a role without one. */
  this_zone: string;
  /** The ULID for a document without one, which could not be dispatched (DSP-9). */
  new_uid: string;
  /** True while a worker of this fiber runs. */
  running: boolean;
};

/** True for a document that the poller may start: active, without a verdict. */
export function isArmed(document: Pick<FiberDocument, 'status' | 'tempered'>): boolean {
  return document.status === 'active' && document.tempered === undefined;
}

/** True for a service that arming changes: it is not armed, or a clock that was ahead keeps it from being due. */
export function canBeArmed(document: FiberDocument, facts: Pick<VerbFacts, 'running'>, now: number): boolean {
  const { dispatched_at, handed_off_at } = document.svc?.runtime ?? {};
  const is_ahead = [dispatched_at, handed_off_at].some((at) => Date.parse(at ?? '') > now);
  return !isArmed(document) || (document.svc?.kind === 'standing' && is_ahead && !facts.running);
}

/**
 * Arms a service again in one write. A standing role is stamped as served, so that earlier occurrences do not fire
 * (LIF-6, STD-1). A closed fiber whose conversation is over starts fresh at its next dispatch (RES-8).
 */
export function rearmed(
  document: FiberDocument,
  edit: PlannedEdit,
  facts: Pick<VerbFacts, 'this_host' | 'new_uid' | 'running'>,
  now: number,
): PlannedEdit {
  const set: PlannedEdit['set'] = { ...edit.set };
  if (document.uid === null) set.id = facts.new_uid;
  if (document.svc?.host === undefined && set['svc.host'] === undefined) set['svc.host'] = facts.this_host;
  if (canBeArmed(document, facts, now)) Object.assign(set, served(document, edit, facts.running, now));
  const { set: all, unset } = armed({ set, unset: edit.unset });
  return { set: all, unset: [...new Set(unset)] };
}

/** The marks of arming a service that is not armed; none for one that is still at work, and for a parked oneshot. */
export function served(
  document: FiberDocument,
  edit: PlannedEdit,
  running: boolean,
  now: number,
): PlannedEdit['set'] {
  const dispatched_at = document.svc?.runtime?.dispatched_at;
  const kind = edit.set['svc.kind'] ?? document.svc?.kind;
  const over = document.status === 'closed' && dispatched_at !== undefined;
  // A worker that still runs has been served by its launch, and a stamp now would be taken for its handoff.
  if (running || (kind !== 'standing' && !over)) return {};
  return { 'svc.runtime.handed_off_at': stamp(now), ...withoutFuture(dispatched_at, now) };
}

/** A timestamp from a clock that was ahead would keep a role from being due until that time. */
function withoutFuture(dispatched_at: string | undefined, now: number): PlannedEdit['set'] {
  const at = Date.parse(dispatched_at ?? '');
  return at >= now ? { 'svc.runtime.dispatched_at': stamp(now - 1) } : {};
}
