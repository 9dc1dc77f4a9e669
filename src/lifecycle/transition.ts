import { CodedError } from '../base/errors.ts';
import { shellWord } from '../base/shell-word.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import type { TransitionAction, TransitionTarget } from '../contract/http/lifecycle.ts';
import { planPause, planResume } from './arming-verbs.ts';
import type { PlannedEdit } from './planned-edit.ts';
import { isArmed, type VerbFacts } from './rearm.ts';
import { planAccept, planClose, planCompost } from './review-verbs.ts';

/** The steps that move a fiber to a column, in this order. */
export type TransitionPlan = {
  action: TransitionAction;
  /** The running worker is ended first; then the move is planned again from the changed document. */
  end_worker: boolean;
  edit: PlannedEdit | null;
  /** A worker is started by force, which arms the document itself (LIF-3). */
  dispatch: boolean;
};

/**
 * The one total function of the board's columns (WPL-2): for every document, with or without a worker, and every
 * target. Its only error is `arm_refused`, for a plain document that should go in flight.
 */
export function planTransition(
  document: FiberDocument,
  target: TransitionTarget,
  facts: VerbFacts,
  now: number,
): TransitionPlan {
  if (target === 'inFlight') return toInFlight(document, facts, now);
  const { edit, action } = atRest(document, target, facts, now);
  const served = facts.running && target === 'tempered' && document.svc?.kind === 'standing';
  return {
    action: edit === null && !facts.running ? 'none' : action,
    end_worker: facts.running,
    // Accepting a running role: it is armed again after its worker has ended and closed it.
    edit: served ? planAccept({ ...document, status: 'closed' }, {}, facts, now) : edit,
    dispatch: false,
  };
}

function toInFlight(document: FiberDocument, facts: VerbFacts, now: number): TransitionPlan {
  if (document.svc === undefined)
    throw new CodedError(
      'arm_refused',
      `"${document.id}" has no svc block, so no worker can take it up; make it a service with "svc install ${shellWord(document.id)} --project-dir <dir>" first`,
      { details: { fiber_id: document.id } },
    );
  const still = { end_worker: false, edit: null, dispatch: false };
  if (!facts.running) return { ...still, action: 'dispatch', dispatch: true };
  if (isArmed(document)) return { ...still, action: 'none' };
  return { ...still, action: 'resume', edit: planResume(document, facts, now) };
}

function atRest(
  document: FiberDocument,
  target: Exclude<TransitionTarget, 'inFlight'>,
  facts: VerbFacts,
  now: number,
): { action: TransitionAction; edit: PlannedEdit | null } {
  switch (target) {
    case 'drafts':
      return document.status === 'active'
        ? { action: 'pause', edit: planPause(document) }
        : { action: facts.running ? 'pause' : 'draft', edit: asDraft(document) };
    case 'awaitingReview':
      return { action: 'close', edit: toReview(document) };
    case 'tempered':
      return { action: 'accept', edit: planAccept(document, {}, facts, now) };
    case 'composted':
      return { action: 'compost', edit: planCompost(document) };
  }
}

function asDraft(document: FiberDocument): PlannedEdit | null {
  if (document.status === 'open' && document.tempered === undefined) return null;
  return { set: { status: 'open' }, unset: ['tempered', 'closed-at'] };
}

/** Removes the verdict. */
function toReview(document: FiberDocument): PlannedEdit | null {
  if (document.status !== 'closed') return planClose(document, {});
  return document.tempered === undefined ? null : { set: { status: 'closed' }, unset: ['tempered'] };
}
