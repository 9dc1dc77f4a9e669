import { CodedError } from '../../base/errors.ts';
import { didYouMean } from '../../base/nearest-words.ts';
import { parseOperatorText, readOperatorText } from '../../config/operator-text.ts';
import { operatorFilePaths } from '../../config/paths.ts';
import type { Settings } from '../../config/settings.ts';
import { type Agent, type AgentsReply, agentsFileSchema, HIDDEN_VALUE } from '../../contract/agent.ts';
import { type AgentEntry, layerAgents } from './agent-layers.ts';
import { resolveAliases } from './agent-names.ts';
import { builtinAgents } from './builtin-agents.ts';

const NO_AGENTS = '{"agents": []}';

/** The effective agents of this host (RPL-5). */
export type AgentRegistry = {
  agents: Agent[];
  /** Id of the agent for a fiber that names none; null if there are no agents. */
  default_id: string | null;
  /** Every id and alias, mapped to an agent id. */
  names: Record<string, string>;
  /** Path of the operator file, which may not exist. */
  file: string;
  /** Why the file as it is now is not used (`invalid_config`); null if it is. */
  problem: CodedError | null;
};

/**
 * Reads the registry. With an invalid file it has a `problem` and only the built-in agents, so that a mistake in the file
 * does not stop the daemon.
 */
export function loadRegistry(settings: Settings): AgentRegistry {
  return loadRegistryFile(operatorFilePaths(settings).agents);
}

/** `loadRegistry` for the agents file at this path. */
export function loadRegistryFile(file: string): AgentRegistry {
  try {
    return parseRegistry(file, readOperatorText(file) ?? NO_AGENTS);
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    return { ...parseRegistry(file, NO_AGENTS), problem: error };
  }
}

/** Parses the text of an agents file; throws `invalid_config`, which names `file` and the fix (OPF-3). */
export function parseRegistry(file: string, text: string): AgentRegistry {
  const document = parseOperatorText(file, text, agentsFileSchema);
  const entries: AgentEntry[] = [];
  const aliases: { id: string; alias_of: string }[] = [];
  for (const entry of document.agents) {
    if (isAlias(entry)) aliases.push(entry);
    else entries.push(entry);
  }
  const refuse = (reason: string): never => {
    throw new CodedError('invalid_config', `${file}: ${reason}`, { details: { file } });
  };
  const layered = layerAgents(
    { entries, builtins: builtinAgents(), restrict: document.builtins === 'restrict' },
    refuse,
  );
  const names = resolveAliases(layered, aliases, refuse);
  const agents = layered.filter((agent) => names[agent.id] === agent.id);
  const flagged = layered.find((agent) => agent.default);
  const default_id = (flagged === undefined ? agents[0]?.id : names[flagged.id]) ?? null;
  return {
    agents: agents.map((agent) => ({
      ...agent,
      default: agent.id === default_id,
      aliases: Object.keys(names).filter((name) => name !== agent.id && names[name] === agent.id),
    })),
    default_id,
    names,
    file,
    problem: null,
  };
}

function isAlias(entry: object): entry is { id: string; alias_of: string } {
  return 'alias_of' in entry && typeof entry.alias_of === 'string';
}

/** The agent with this id or alias, or the default agent for null; throws `agent_unknown`. */
export function resolveAgent(registry: AgentRegistry, id: string | null): Agent {
  const name = id ?? registry.default_id;
  if (name === null) {
    throw new CodedError('agent_unknown', `there is no agent on this host; add one to ${registry.file}`);
  }
  const meant = Object.hasOwn(registry.names, name) ? registry.names[name] : undefined;
  const agent = registry.agents.find((candidate) => candidate.id === meant);
  if (agent !== undefined) return agent;
  const known = registry.agents.map((candidate) => candidate.id).join(', ');
  const mend =
    registry.problem === null
      ? `use one of ${known}, or add it to ${registry.file}`
      : `its agents file is not used: ${registry.problem.message}`;
  const question = didYouMean(name, Object.keys(registry.names));
  const end = question !== '' && registry.problem === null ? `.${question}` : `; ${mend}`;
  throw new CodedError('agent_unknown', `there is no agent "${name}" on this host${end}`, {
    details: { agent: name },
  });
}

/** The effort of a launch: the requested one, else the agent's default; throws `effort_unknown`. */
export function resolveEffort(agent: Agent, asked: string | null): string | null {
  const effort = asked ?? agent.default_effort;
  if (effort === null || agent.effort_levels.includes(effort)) return effort;
  const message =
    agent.effort_levels.length === 0
      ? `agent ${agent.id} has no effort levels; leave the effort out`
      : `agent ${agent.id} takes one of ${agent.effort_levels.join(', ')} as effort, not "${effort}"`;
  throw new CodedError('effort_unknown', message, { details: { agent: agent.id, effort } });
}

/** The registry as `GET /agents` and `svc agents --json` show it; the values of `env` are hidden. */
export function agentsReply(registry: AgentRegistry): AgentsReply {
  return { default: registry.default_id, agents: registry.agents.map(hideEnv) };
}

/** An agent with the values of its environment hidden. */
export function hideEnv(agent: Agent): Agent {
  return { ...agent, env: Object.fromEntries(Object.keys(agent.env).map((name) => [name, HIDDEN_VALUE])) };
}
