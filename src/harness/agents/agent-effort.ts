import { isDeepStrictEqual } from 'node:util';
import { CodedError } from '../../base/errors.ts';
import { didYouMean } from '../../base/nearest-words.ts';
import { appendToList, removeFromList, removeKey, setKey } from '../../config/json-splice.ts';
import { commitChange } from '../../config/operator-change.ts';
import { withOperatorLock } from '../../config/operator-lock.ts';
import { readOperatorText } from '../../config/operator-text.ts';
import { operatorFilePaths } from '../../config/paths.ts';
import type { Settings } from '../../config/settings.ts';
import type { Agent } from '../../contract/agent.ts';
import { builtinAgents } from './builtin-agents.ts';
import { type AgentRegistry, parseRegistry, resolveAgent, resolveEffort } from './registry.ts';

const EMPTY = '{\n  "version": 1,\n  "agents": []\n}\n';

/**
 * Sets the default effort of one agent in the agents file; null restores the agent's own default and leaves
 * nothing behind, not even a file that had no other purpose (WPL-17). Returns the agent with its new default. The rest
 * of the file keeps its text. Throws `agent_not_found`, `effort_unknown`, or `invalid_config` for an invalid file, which
 * is not changed.
 */
export async function setAgentEffort(settings: Settings, id: string, effort: string | null): Promise<Agent> {
  const { agents: file } = operatorFilePaths(settings);
  return withOperatorLock(file, () => {
    const { agent, path, before, after } = planAgentEffort(settings, id, effort);
    commitChange({ file: path, before, after });
    return agent;
  });
}

/** The checks and the result of `setAgentEffort` without the write: the text before and after; null for no file. */
export function planAgentEffort(
  settings: Settings,
  id: string,
  effort: string | null,
): { path: string; before: string | null; after: string | null; agent: Agent } {
  const { agents: path } = operatorFilePaths(settings);
  const before = readOperatorText(path);
  const text = before ?? EMPTY;
  const registry = parseRegistry(path, text);
  if (!Object.hasOwn(registry.names, id)) throw notFound(registry, id);
  const agent = resolveAgent(registry, id);
  if (effort !== null) resolveEffort(agent, effort);
  const edited = edit(text, agent, effort);
  const changed = resolveAgent(parseRegistry(path, edited ?? EMPTY), agent.id);
  return { path, before, after: edited === text ? before : edited, agent: changed };
}

function notFound({ agents, names }: AgentRegistry, id: string): CodedError {
  const question = didYouMean(id, Object.keys(names));
  const known = `; it has ${agents.map((agent) => agent.id).join(', ') || 'none'}`;
  const message = `there is no agent "${id}" on this host${question === '' ? known : `.${question}`}`;
  return new CodedError('agent_not_found', message, { details: { id } });
}

/** The new text; null for no file. */
function edit(text: string, agent: Agent, effort: string | null): string | null {
  const { agents, builtins } = JSON.parse(text) as { agents: { id: string }[]; builtins?: string };
  const at = agents.findIndex((entry) => entry.id === agent.id);
  const entry = { id: agent.id, harness: agent.harness, default_effort: effort };
  if (at === -1) {
    if (effort === null) return text;
    return checked(appendToList(text, ['agents'], entry), text, (meant) => meant.push(entry));
  }
  if (effort !== null)
    return checked(setKey(text, ['agents', at, 'default_effort'], effort), text, (meant) => {
      meant[at]!.default_effort = effort;
    });
  const { default_effort: _, ...left } = agents[at] as Record<string, unknown>;
  // What is left of an entry that says nothing is removed, unless the list itself says which agents there are.
  const idle = isDeepStrictEqual(left, { id: agent.id, harness: agent.harness });
  if (!idle || builtins === 'restrict' || !builtinAgents().some(({ id }) => id === agent.id))
    return checked(removeKey(text, ['agents', at, 'default_effort']), text, (meant) => {
      delete meant[at]!.default_effort;
    });
  const without = checked(removeFromList(text, ['agents'], at), text, (meant) => meant.splice(at, 1));
  return without === EMPTY ? null : without;
}

/** The text is spliced by position, so it is written only if it parses to the intended value. */
function checked(edited: string, text: string, change: (agents: Record<string, unknown>[]) => void): string {
  const meant = JSON.parse(text) as { agents: Record<string, unknown>[] };
  change(meant.agents);
  if (!isDeepStrictEqual(JSON.parse(edited), meant))
    throw new CodedError('internal', 'the agents file could not be edited in place; edit it by hand');
  return edited;
}
