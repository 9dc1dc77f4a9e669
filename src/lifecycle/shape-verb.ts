import { isDeepStrictEqual } from 'node:util';
import { CodedError } from '../base/errors.ts';
import type { FiberDocument, FiberKind, WHEN_FREE_AGAIN, WHEN_IDLE } from '../contract/fiber.ts';
import type { Surface } from '../contract/surface.ts';
import { requireSchedule, requireZone } from '../fibers/field-values.ts';
import { chooseAgent, type KnownAgents } from './agent-verbs.ts';
import { noteWorktree, type PlannedEdit, requireProjectDir, requireService, stamp } from './planned-edit.ts';
import type { VerbFacts } from './rearm.ts';
import { noteAutoAccept, ROLE_KEYS } from './service-verbs.ts';

/** The fields that `reshape` may change; absent ones are kept. */
export type ShapeFields = {
  kind?: FiberKind | undefined;
  schedule?: string | undefined;
  tz?: string | undefined;
  auto_accept?: boolean | undefined;
  /** In the order in which they take over; an empty list removes it. */
  on_limit?: readonly string[] | undefined;
  /** `wait` removes it. */
  after_limit?: (typeof WHEN_FREE_AGAIN)[number] | undefined;
  /** `wait` removes it. */
  when_idle?: (typeof WHEN_IDLE)[number] | undefined;
  project_dir?: string | undefined;
  /** `false` gives the git worktree up. */
  worktree?: boolean | undefined;
  surface?: Surface | undefined;
  host?: string | undefined;
  agent?: string | undefined;
  effort?: string | undefined;
};

/**
 * Changes the configuration of a service and keeps its history: runtime marks, verdict and outcome. It stays armed or
 * parked, except that an armed fiber that becomes a pinned role is parked, since pinned roles are started by hand. A
 * new schedule counts from now (STD-1). `known` is null where the agents of its host are not known here.
 */
export function planReshape(
  document: FiberDocument,
  fields: ShapeFields,
  facts: VerbFacts,
  known: KnownAgents | null,
  now: number,
): PlannedEdit | null {
  requireService(document, 'reshape');
  if (Object.values(fields).every((value) => value === undefined))
    throw new CodedError(
      'invalid_request',
      'name what to change: the kind, schedule, zone, acceptance, folder, worktree, surface, host, agent, effort, the agents at a limit or what an idle worker is told',
    );
  const kind = fields.kind ?? document.svc?.kind ?? 'oneshot';
  const { agent, effort, surface } = fields;
  const edit: PlannedEdit =
    agent === undefined && effort === undefined && surface === undefined
      ? { set: {}, unset: [] }
      : chooseAgent(document, { agent, effort, surface }, known);
  if (fields.kind !== undefined) edit.set['svc.kind'] = kind;
  if (fields.surface !== undefined) edit.set['svc.surface'] = fields.surface;
  if (fields.host !== undefined) edit.set['svc.host'] = fields.host;
  if (fields.project_dir !== undefined)
    edit.set['svc.project_dir'] = requireProjectDir(document, fields.project_dir);
  else if (fields.kind !== undefined && kind !== 'pinned') requireProjectDir(document, undefined);
  noteWorktree(edit, document, fields);
  noteOnLimit(edit, document, fields.on_limit, known);
  if (fields.after_limit === 'go_on') edit.set['svc.after_limit'] = 'go_on';
  else if (fields.after_limit === 'wait' && document.svc?.after_limit !== undefined)
    edit.unset.push('svc.after_limit');
  if (fields.when_idle === 'nudge') edit.set['svc.when_idle'] = 'nudge';
  else if (fields.when_idle === 'wait' && document.svc?.when_idle !== undefined)
    edit.unset.push('svc.when_idle');
  if (kind === 'standing') {
    Object.assign(edit.set, standing(document, fields, facts, now));
    const { auto_accept } = fields;
    if (auto_accept !== (document.svc?.auto_accept ?? false)) noteAutoAccept(edit, auto_accept);
  } else if (fields.schedule !== undefined || fields.tz !== undefined || fields.auto_accept !== undefined)
    throw new CodedError(
      'invalid_request',
      `a ${kind} fiber has no schedule; make it a standing role with --kind standing`,
    );
  else if (document.svc?.kind === 'standing') edit.unset.push(...ROLE_KEYS);
  if (kind === 'pinned' && fields.kind !== undefined && document.status === 'active' && !facts.running)
    edit.set.status = 'open';
  return unlessSame(document, edit);
}

/** The agents that take over at a limit; throws `agent_unknown` for one that the host does not have. */
function noteOnLimit(
  edit: PlannedEdit,
  document: FiberDocument,
  on_limit: readonly string[] | undefined,
  known: KnownAgents | null,
): void {
  if (on_limit === undefined) return;
  if (on_limit.length === 0) {
    if (document.svc?.on_limit !== undefined) edit.unset.push('svc.on_limit');
    return;
  }
  for (const agent of on_limit) chooseAgent(document, { agent }, known);
  edit.set['svc.on_limit'] = [...on_limit];
}

function standing(
  document: FiberDocument,
  fields: ShapeFields,
  facts: VerbFacts,
  now: number,
): PlannedEdit['set'] {
  const { svc } = document;
  const given = fields.schedule ?? svc?.schedule;
  if (given === undefined)
    throw new CodedError(
      'invalid_request',
      'a standing role needs a schedule; name one with --schedule, such as "0 9 * * 1-5"',
    );
  const schedule = requireSchedule(given);
  const tz = requireZone(fields.tz ?? svc?.tz ?? facts.this_zone);
  const set: PlannedEdit['set'] = {};
  if (svc?.schedule !== schedule) set['svc.schedule'] = schedule;
  if (svc?.tz !== tz) set['svc.tz'] = tz;
  // While a worker runs, its end stamps the role; a stamp now would be mistaken for its handoff.
  if (!facts.running && (Object.keys(set).length > 0 || svc?.kind !== 'standing'))
    set['svc.runtime.handed_off_at'] = stamp(now);
  return set;
}

function unlessSame(document: FiberDocument, edit: PlannedEdit): PlannedEdit | null {
  const svc: Record<string, unknown> = { ...document.svc };
  const same =
    edit.unset.length === 0 &&
    Object.entries(edit.set).every(
      ([path, value]) => path.startsWith('svc.') && isDeepStrictEqual(svc[path.slice(4)], value),
    );
  return same ? null : edit;
}
