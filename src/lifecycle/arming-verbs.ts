import type { FiberDocument } from '../contract/fiber.ts';
import { type PlannedEdit, requireService } from './planned-edit.ts';
import { canBeArmed, rearmed, type VerbFacts } from './rearm.ts';

/** Parks an armed fiber and does not affect its worker. No change for one that is not armed. */
export function planPause(document: FiberDocument): PlannedEdit | null {
  return document.status === 'active' ? { set: { status: 'open' }, unset: ['tempered'] } : null;
}

/** Arms a parked, closed or awaiting fiber (LIF-6, RES-8); no change for one that is armed and may be due. Refused without a svc block. */
export function planResume(document: FiberDocument, facts: VerbFacts, now: number): PlannedEdit | null {
  requireService(document, 'resume');
  const complete = document.uid !== null && document.svc?.host !== undefined;
  if (!canBeArmed(document, facts, now) && complete) return null;
  return rearmed(document, { set: {}, unset: ['closed-at'] }, facts, now);
}

/**
 * Reopens a closed fiber (LIF-4): a service is armed as by `planResume`; a pinned role, which is started by hand, and a
 * plain document are parked.
 */
export function planReopen(document: FiberDocument, facts: VerbFacts, now: number): PlannedEdit | null {
  if (document.status !== 'closed') return null;
  if (document.svc === undefined || document.svc.kind === 'pinned')
    return { set: { status: 'open' }, unset: ['tempered', 'closed-at'] };
  return planResume(document, facts, now);
}
