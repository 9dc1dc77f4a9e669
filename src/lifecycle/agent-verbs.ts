import { CodedError } from '../base/errors.ts';
import type { Agent } from '../contract/agent.ts';
import type { FiberDocument, Surface } from '../contract/fiber.ts';
import { APP_HARNESS } from '../contract/harness-name.ts';
import { type PlannedEdit, requireService } from './planned-edit.ts';

/** The agents of this host, as the registry has them. */
export type KnownAgents = {
  agents: readonly Agent[];
  /** Every id and alias, to the id it means. */
  names: Readonly<Record<string, string>>;
  default_id: string | null;
};
type Choice = {
  agent?: string | undefined;
  effort?: string | null | undefined;
  surface?: Surface | undefined;
};

/** The agent of an app conversation whose fiber names none: the built-in one without a model of its own. */
export const APP_AGENT = APP_HARNESS;

/**
 * Gives a service another agent of the registry; throws `agent_unknown` or `effort_unknown`. `known` is null for a fiber
 * of another host, whose agents are not known here: its owner checks them at the launch.
 */
export function planSetAgent(
  document: FiberDocument,
  fields: { agent: string; effort?: string | null | undefined },
  known: KnownAgents | null,
): PlannedEdit | null {
  requireService(document, 'give an agent');
  return unlessSame(document, chooseAgent(document, fields, known));
}

/**
 * Has a service worked on by another model: the agent of the registry that runs it, one of the same harness first.
 * Throws `agent_unknown` naming the models there are.
 */
export function planSetModel(
  document: FiberDocument,
  fields: { model: string; effort?: string | null | undefined },
  known: KnownAgents | null,
): PlannedEdit | null {
  requireService(document, 'give a model');
  if (known === null)
    throw new CodedError(
      'agent_unknown',
      `which agents ${document.svc?.host} has is not known here; give the model there, or name the agent with "svc set-agent"`,
    );
  const present = findAgent(known, document.svc?.agent ?? known.default_id ?? '');
  const running = known.agents.filter((agent) => agent.model === fields.model);
  const chosen =
    running.find((agent) => agent.id === present?.id) ??
    running.find((agent) => agent.harness === present?.harness) ??
    running[0];
  if (chosen === undefined) {
    const models = known.agents.flatMap((agent) => (agent.model === null ? [] : [agent.model]));
    throw new CodedError(
      'agent_unknown',
      `no agent of this host runs the model "${fields.model}"; there are ${[...new Set(models)].join(', ') || 'none'}, and "svc agents" lists who runs them`,
      { details: { model: fields.model } },
    );
  }
  return unlessSame(document, chooseAgent(document, { agent: chosen.id, effort: fields.effort }, known));
}

/**
 * The edit for an agent, an effort or both, on the surface that the fiber has or is given; an alias stays as it is
 * written. Throws `agent_unknown`, `effort_unknown`, or `surface_unsupported` for an agent without app conversations;
 * what is not asked for is not judged. An effort that the fiber has and the new agent does not take is removed, so
 * that no dispatch is refused for it; one that is asked for is refused.
 */
export function chooseAgent(document: FiberDocument, choice: Choice, known: KnownAgents | null): PlannedEdit {
  const edit: PlannedEdit = { set: {}, unset: [] };
  if (known === null) return trusted(choice);
  const surface = choice.surface ?? document.svc?.surface ?? 'cli';
  const unnamed = surface === 'app' ? APP_AGENT : (known.default_id ?? '');
  const name = choice.agent ?? document.svc?.agent ?? unnamed;
  const agent = findAgent(known, name);
  if (agent === undefined) {
    if (choice.agent === undefined && choice.effort === undefined) return edit;
    throw new CodedError(
      'agent_unknown',
      `there is no agent "${name}" on this host; use one of ${known.agents.map(({ id }) => id).join(', ')}, or see "svc agents"`,
      { details: { agent: name } },
    );
  }
  if (surface === 'app' && agent.harness !== APP_HARNESS && (choice.agent ?? choice.surface) !== undefined)
    throw new CodedError(
      'surface_unsupported',
      `agent ${agent.id} has no app conversations; choose a ${APP_HARNESS} agent (${appAgents(known)}), or the surface cli`,
      { details: { agent: agent.id } },
    );
  if (choice.agent !== undefined) edit.set['svc.agent'] = choice.agent;
  const kept = document.svc?.effort;
  if (choice.effort === null) edit.unset.push('svc.effort');
  else if (choice.effort !== undefined) edit.set['svc.effort'] = requireEffort(agent, choice.effort);
  else if (kept !== undefined && !agent.effort_levels.includes(kept)) edit.unset.push('svc.effort');
  return edit;
}

/** Throws `effort_unknown` for a level that the agent does not take. */
export function requireEffort(agent: Pick<Agent, 'id' | 'effort_levels'>, effort: string): string {
  if (agent.effort_levels.includes(effort)) return effort;
  const levels =
    agent.effort_levels.length === 0 ? 'no effort' : `one of ${agent.effort_levels.join(', ')} as effort`;
  throw new CodedError('effort_unknown', `agent ${agent.id} takes ${levels}, not "${effort}"`, {
    details: { agent: agent.id, effort },
  });
}

function trusted(choice: Choice): PlannedEdit {
  const set: PlannedEdit['set'] = {};
  if (choice.agent !== undefined) set['svc.agent'] = choice.agent;
  if (choice.effort != null) set['svc.effort'] = choice.effort;
  return { set, unset: choice.effort === null ? ['svc.effort'] : [] };
}

function appAgents(known: KnownAgents): string {
  const ids = known.agents.filter(({ harness }) => harness === APP_HARNESS).map(({ id }) => id);
  return ids.length === 0 ? 'this host has none' : ids.join(', ');
}

function findAgent(known: KnownAgents, name: string): Agent | undefined {
  const id = Object.hasOwn(known.names, name) ? known.names[name] : undefined;
  return known.agents.find((agent) => agent.id === id);
}

function unlessSame(document: FiberDocument, edit: PlannedEdit): PlannedEdit | null {
  const { agent, effort } = document.svc ?? {};
  const changes =
    ('svc.agent' in edit.set && edit.set['svc.agent'] !== agent) ||
    ('svc.effort' in edit.set && edit.set['svc.effort'] !== effort) ||
    (edit.unset.includes('svc.effort') && effort !== undefined);
  return changes ? edit : null;
}
