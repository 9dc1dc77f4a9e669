import { CodedError } from '../../base/errors.ts';
import { parseOperatorText, readOperatorText } from '../../config/operator-text.ts';
import { operatorFilePaths } from '../../config/paths.ts';
import type { Settings } from '../../config/settings.ts';
import { type Agent, type AgentsReply, agentsFileSchema } from '../../contract/agent.ts';
import { type AgentEntry, layerAgents } from './agent-layers.ts';
import { resolveAliases } from './agent-names.ts';
import { builtinAgents } from './builtin-agents.ts';

/** The effective agents of this host (RPL-5). */
export type AgentRegistry = {
  agents: Agent[];
  /** Id of the agent that works on a fiber which names none; null when there is no agent at all. */
  default_id: string | null;
  /** Every id and alias, to the id it means. */
  names: Record<string, string>;
  /** The operator file, whether it exists or not. */
  file: string;
};

/**
 * Reads the registry. A file that cannot be used is reported as `problem` (`invalid_config`), and the registry is
 * then the built-in one, so that a slip of the pen does not stop a daemon.
 */
export function loadRegistry(settings: Settings): { registry: AgentRegistry; problem: CodedError | null } {
  return loadRegistryFile(operatorFilePaths(settings).agents);
}

/** `loadRegistry` of the agents file at this path. */
export function loadRegistryFile(file: string): { registry: AgentRegistry; problem: CodedError | null } {
  try {
    const text = readOperatorText(file);
    return { registry: parseRegistry(file, text ?? '{"agents": []}'), problem: null };
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    return { registry: parseRegistry(file, '{"agents": []}'), problem: error };
  }
}

/** The registry that the text of an agents file gives; throws `invalid_config` naming `file` and the mend (OPF-3). */
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
  };
}

function isAlias(entry: object): entry is { id: string; alias_of: string } {
  return 'alias_of' in entry && typeof entry.alias_of === 'string';
}

/** The agent of an id or alias, the default one for null; throws `agent_unknown`. */
export function resolveAgent(registry: AgentRegistry, id: string | null): Agent {
  const name = id ?? registry.default_id;
  if (name === null) {
    throw new CodedError('agent_unknown', `there is no agent on this host; add one to ${registry.file}`);
  }
  const meant = Object.hasOwn(registry.names, name) ? registry.names[name] : undefined;
  const agent = registry.agents.find((candidate) => candidate.id === meant);
  if (agent !== undefined) return agent;
  const known = registry.agents.map((candidate) => candidate.id).join(', ');
  throw new CodedError(
    'agent_unknown',
    `there is no agent "${name}" on this host; use one of ${known}, or add it to ${registry.file}`,
    { details: { agent: name } },
  );
}

/** The effort to launch with: the one asked for, else the agent's default; throws `effort_unknown`. */
export function resolveEffort(agent: Agent, asked: string | null): string | null {
  const effort = asked ?? agent.default_effort;
  if (effort === null || agent.effort_levels.includes(effort)) return effort;
  const levels = agent.effort_levels.length === 0 ? 'none' : `one of ${agent.effort_levels.join(', ')}`;
  throw new CodedError('effort_unknown', `agent ${agent.id} takes ${levels} as effort, not "${effort}"`, {
    details: { agent: agent.id, effort },
  });
}

/** The registry as `GET /agents` and `svc agents --json` show it; the values of `env` stay on the host. */
export function agentsReply(registry: AgentRegistry): AgentsReply {
  return { default: registry.default_id, agents: registry.agents.map(hideEnv) };
}

/** An agent without the values of its environment. */
export function hideEnv(agent: Agent): Agent {
  return { ...agent, env: Object.fromEntries(Object.keys(agent.env).map((name) => [name, '(hidden)'])) };
}
