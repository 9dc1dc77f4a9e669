import type { FiberDocument } from '../contract/fiber.ts';
import { type PlannedEdit, stamp } from './planned-edit.ts';
import { canBeArmed, rearmed, type VerbFacts } from './rearm.ts';

/**
 * Accepts the work of a fiber: a standing role is armed again and stamped as served in the same write (LIF-6, STD-1), a
 * pinned one is parked, any other fiber is closed with the verdict. The outcome is kept unless a new one is given.
 */
export function planAccept(
  document: FiberDocument,
  fields: { outcome?: string | undefined },
  facts: VerbFacts,
  now: number,
): PlannedEdit | null {
  return withOutcome(accepted(document, facts, now), document, fields.outcome);
}

function accepted(document: FiberDocument, facts: VerbFacts, now: number): PlannedEdit | null {
  switch (document.svc?.kind) {
    case 'standing':
      return canBeArmed(document, facts, now)
        ? rearmed(document, { set: {}, unset: ['closed-at'] }, facts, now)
        : null;
    case 'pinned':
      if (document.status === 'open' && document.tempered === undefined) return null;
      return {
        set: { status: 'open', 'svc.runtime.handed_off_at': stamp(now) },
        unset: ['tempered', 'closed-at'],
      };
    default:
      if (document.status === 'closed' && document.tempered === true) return null;
      return { set: { status: 'closed', tempered: true }, unset: [] };
  }
}

/** Sets a fiber aside: closed, with the verdict false. */
export function planCompost(document: FiberDocument): PlannedEdit | null {
  if (document.status === 'closed' && document.tempered === false) return null;
  return { set: { status: 'closed', tempered: false }, unset: [] };
}

/** Closes a fiber without a verdict, so that it awaits review. A closed fiber keeps its verdict. */
export function planClose(
  document: FiberDocument,
  fields: { outcome?: string | undefined },
): PlannedEdit | null {
  const edit: PlannedEdit | null =
    document.status === 'closed' ? null : { set: { status: 'closed' }, unset: ['tempered'] };
  return withOutcome(edit, document, fields.outcome);
}

/** Writes the outcome, the line that the card shows. */
export function planSetOutcome(document: FiberDocument, fields: { outcome: string }): PlannedEdit | null {
  return withOutcome(null, document, fields.outcome);
}

function withOutcome(
  edit: PlannedEdit | null,
  document: FiberDocument,
  outcome: string | undefined,
): PlannedEdit | null {
  if (outcome === undefined || outcome === document.outcome) return edit;
  return { set: { ...edit?.set, outcome }, unset: edit?.unset ?? [] };
}
