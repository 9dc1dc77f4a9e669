import type { FiberDocument } from '../contract/fiber.ts';
import type { LifecycleRequest } from '../contract/http/lifecycle.ts';
import { type KnownAgents, planSetAgent, planSetModel } from './agent-verbs.ts';
import { planPause, planReopen, planResume } from './arming-verbs.ts';
import { KIND_WORDS, STATUS_WORDS, verdictWords } from './fiber-words.ts';
import type { PlannedEdit } from './planned-edit.ts';
import { rearmed, type VerbFacts } from './rearm.ts';
import { planAccept, planClose, planSetOutcome } from './review-verbs.ts';
import { planInstall, planPin, planRepeat, planUninstall, type ServiceFields } from './service-verbs.ts';
import { planReshape } from './shape-verb.ts';

/**
 * True for a verb that lifts an earlier hold or refusal, since a person has just asked for the fiber to run. `accept`
 * and `reopen` do so only if they `changed` the document.
 */
export function isArming(action: LifecycleRequest['action'], changed: boolean): boolean {
  return (
    ['install', 'repeat', 'resume'].includes(action) || (changed && ['accept', 'reopen'].includes(action))
  );
}

/**
 * The edit that a lifecycle verb makes to the document in one write; null if nothing has to change. A total function:
 * every refusal is a `CodedError` whose sentence names the fix. No verb leaves a state that another verb refuses,
 * except that service verbs refuse a document that is not a service (P5). `known` is null if the agents of the fiber's
 * host are not known here. `now` is in milliseconds since the Unix epoch.
 */
export function planAction(
  document: FiberDocument,
  request: LifecycleRequest,
  facts: VerbFacts,
  known: KnownAgents | null,
  now: number,
): PlannedEdit | null {
  switch (request.action) {
    case 'install':
      return rearmed(document, planInstall(document, serviceFields(request, facts, known)), facts, now);
    case 'repeat':
      return rearmed(
        document,
        planRepeat(
          document,
          {
            ...serviceFields(request, facts, known),
            schedule: request.schedule,
            thisZone: facts.this_zone,
            running: facts.running,
            ...(request.tz === undefined ? {} : { tz: request.tz }),
            ...(request.auto_accept === undefined ? {} : { auto_accept: request.auto_accept }),
          },
          now,
        ),
        facts,
        now,
      );
    case 'pin':
      return planPin(document, serviceFields(request, facts, known));
    case 'reshape': {
      const {
        action: _action,
        fiber: _fiber,
        store: _store,
        origin: _origin,
        dry_run: _dry,
        ...fields
      } = request;
      return planReshape(document, fields, facts, known, now);
    }
    case 'pause':
      return planPause(document);
    case 'resume':
      return planResume(document, facts, now);
    case 'reopen':
      return planReopen(document, facts, now);
    case 'accept':
      return planAccept(document, request, facts, now);
    case 'close':
      return planClose(document, request);
    case 'set-outcome':
      return planSetOutcome(document, request);
    case 'set-agent':
      return planSetAgent(document, request, known);
    case 'set-model':
      return planSetModel(document, request, known);
    case 'uninstall':
      return planUninstall(document);
  }
}

/** The state of a fiber, as one line of the command's output; `running`: its worker runs. */
export function describeFiber(
  fiber: Pick<FiberDocument, 'id' | 'svc' | 'status' | 'tempered'>,
  running = false,
): string {
  const service =
    fiber.svc === undefined
      ? 'no worker is started for it'
      : `${KIND_WORDS[fiber.svc.kind ?? 'oneshot']} on ${fiber.svc.host ?? 'no host'}`;
  const verdict = fiber.status === 'closed' ? `, ${verdictWords(fiber.tempered)}` : '';
  const state = running && fiber.status === 'active' ? 'its worker runs' : STATUS_WORDS[fiber.status];
  return `${fiber.id}: ${state}${verdict}, ${service}\n`;
}

/** What became of a verb that changes nothing in this state; empty for any other. */
export function describeUnchanged(
  action: LifecycleRequest['action'],
  { status, svc }: Pick<FiberDocument, 'svc' | 'status'>,
): string {
  if (action !== 'pause' || status !== 'closed') return '';
  const until =
    svc === undefined
      ? ''
      : svc.kind === 'standing'
        ? ' until it is accepted or resumed'
        : ' until it is resumed';
  return `Nothing was changed: it is closed, so nothing starts for it${until}.\n`;
}

function serviceFields(
  request: Extract<LifecycleRequest, { action: 'install' | 'pin' | 'repeat' }>,
  facts: VerbFacts,
  known: KnownAgents | null,
): ServiceFields {
  const { project_dir, agent, effort, host, surface, worktree } = request;
  const given = { project_dir, agent, effort, host, surface, worktree };
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(named), thisHost: facts.this_host, newUid: facts.new_uid, known };
}
