import { CodedError } from '../base/errors.ts';
import { didYouMean } from '../base/nearest-words.ts';
import type { Agent } from '../contract/agent.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import type { HarnessName } from '../contract/harness-name.ts';
import { DEFAULT_SURFACE, SURFACE_RULES, type Surface } from '../contract/surface.ts';
import { type PlannedEdit, requireService } from './planned-edit.ts';

/** The agents of this host, from the registry. */
export type KnownAgents = {
  agents: readonly Agent[];
  /** Maps every id and alias to the id. */
  names: Readonly<Record<string, string>>;
  default_id: string | null;
  /** Why the agents of the operator file are not known; null if they are. */
  problem: { readonly message: string } | null;
};
type Choice = {
  agent?: string | undefined;
  effort?: string | null | undefined;
  surface?: Surface | undefined;
};

/**
 * Sets the agent of a service; throws `agent_unknown` or `effort_unknown`. `known` is null for a fiber of another host:
 * that host checks the agent at the launch.
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
 * Sets the model of a service: chooses the agent that runs it, preferring the same harness. Throws `agent_unknown` with
 * the available models.
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
      `the agents of host ${document.svc?.host} are not known here; set the model there, or name the agent with "svc set-agent"`,
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
      `no agent of this host runs the model "${fields.model}"; it has the models: ${[...new Set(models)].join(', ') || 'none'}; ${known.problem?.message ?? 'see "svc agents"'}`,
      { details: { model: fields.model } },
    );
  }
  return unlessSame(document, chooseAgent(document, { agent: chosen.id, effort: fields.effort }, known));
}

/**
 * The edit for an agent, an effort or both, on the fiber's current or new surface; an alias is kept as written. Throws
 * `agent_unknown`, `effort_unknown`, or `surface_unsupported` for an agent without app conversations; fields that are
 * not requested are not checked. A stored effort that the new agent does not take is removed, so that a later dispatch
 * is not refused; a requested one is refused.
 */
export function chooseAgent(document: FiberDocument, choice: Choice, known: KnownAgents | null): PlannedEdit {
  const edit: PlannedEdit = { set: {}, unset: [] };
  if (known === null) return trusted(choice);
  const surface = choice.surface ?? document.svc?.surface ?? DEFAULT_SURFACE;
  const rules = SURFACE_RULES[surface];
  const unnamed = rules.agent ?? known.default_id ?? '';
  const name = choice.agent ?? document.svc?.agent ?? unnamed;
  const agent = findAgent(known, name);
  if (agent === undefined) {
    if (choice.agent === undefined && choice.effort === undefined) return edit;
    throw unknownAgent(known, name);
  }
  if (
    rules.harness !== null &&
    agent.harness !== rules.harness &&
    (choice.agent ?? choice.surface) !== undefined
  )
    throw new CodedError(
      'surface_unsupported',
      `agent ${agent.id} has no ${rules.workers}; choose a ${rules.harness} agent (${agentsOf(known, rules.harness)}), or the surface ${DEFAULT_SURFACE}`,
      { details: { agent: agent.id } },
    );
  if (choice.agent !== undefined) edit.set['svc.agent'] = choice.agent;
  const kept = document.svc?.effort;
  if (choice.effort === null) edit.unset.push('svc.effort');
  else if (choice.effort !== undefined) edit.set['svc.effort'] = requireEffort(agent, choice.effort);
  else if (kept !== undefined && !agent.effort_levels.includes(kept)) edit.unset.push('svc.effort');
  return edit;
}

/** Throws `effort_unknown` for a level that the agent does not support. */
function requireEffort(agent: Pick<Agent, 'id' | 'effort_levels'>, effort: string): string {
  if (agent.effort_levels.includes(effort)) return effort;
  const levels =
    agent.effort_levels.length === 0 ? 'no effort' : `one of ${agent.effort_levels.join(', ')} as effort`;
  throw new CodedError('effort_unknown', `agent ${agent.id} takes ${levels}, not "${effort}"`, {
    details: { agent: agent.id, effort },
  });
}

/** Throws `agent_unknown` for a name that the registry of this host does not have. */
export function requireAgent(known: KnownAgents, name: string): Agent {
  const agent = findAgent(known, name);
  if (agent === undefined) throw unknownAgent(known, name);
  return agent;
}

function unknownAgent(known: KnownAgents, name: string): CodedError {
  const question = didYouMean(name, Object.keys(known.names));
  const end = question !== '' && known.problem === null ? `.${question}` : `; ${mendOf(known)}`;
  return new CodedError('agent_unknown', `there is no agent "${name}" on this host${end}`, {
    details: { agent: name },
  });
}

function trusted(choice: Choice): PlannedEdit {
  const set: PlannedEdit['set'] = {};
  if (choice.agent !== undefined) set['svc.agent'] = choice.agent;
  if (choice.effort != null) set['svc.effort'] = choice.effort;
  return { set, unset: choice.effort === null ? ['svc.effort'] : [] };
}

function agentsOf(known: KnownAgents, only: HarnessName): string {
  const ids = known.agents.filter(({ harness }) => harness === only).map(({ id }) => id);
  return ids.length === 0 ? 'this host has none' : ids.join(', ');
}

function mendOf({ agents, problem }: KnownAgents): string {
  if (problem !== null) return problem.message;
  return `use one of ${agents.map(({ id }) => id).join(', ')}, or see "svc agents"`;
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
