import { isDeepStrictEqual } from 'node:util';
import { CodedError } from '../../base/errors.ts';
import { appendToList, removeKey, setKey } from '../../config/json-splice.ts';
import { withOperatorLock } from '../../config/operator-lock.ts';
import { readOperatorText } from '../../config/operator-text.ts';
import { operatorFilePaths } from '../../config/paths.ts';
import type { Settings } from '../../config/settings.ts';
import type { Agent } from '../../contract/agent.ts';
import { writeFileAtomic } from '../../platform/atomic-write.ts';
import { parseRegistry, resolveAgent, resolveEffort } from './registry.ts';

const EMPTY = '{\n  "version": 1,\n  "agents": []\n}\n';

/**
 * Sets the default effort of one agent in the agents file; null restores the agent's own default (WPL-17). Returns the
 * agent with its new default. The rest of the file keeps its text. Throws `agent_not_found`, `effort_unknown`, or
 * `invalid_config` for an invalid file, which is not changed.
 */
export async function setAgentEffort(settings: Settings, id: string, effort: string | null): Promise<Agent> {
  const { agents: file } = operatorFilePaths(settings);
  return withOperatorLock(file, () => {
    const { agent, before, after } = planAgentEffort(settings, id, effort);
    if (after !== null && after !== before) writeFileAtomic(file, after, { mode: 0o600 });
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
  if (!Object.hasOwn(registry.names, id))
    throw new CodedError(
      'agent_not_found',
      `there is no agent "${id}" on this host; it has ${registry.agents.map((agent) => agent.id).join(', ') || 'none'}`,
      { details: { id } },
    );
  const agent = resolveAgent(registry, id);
  if (effort !== null) resolveEffort(agent, effort);
  const edited = edit(text, agent, effort);
  const changed = resolveAgent(parseRegistry(path, edited), agent.id);
  return { path, before, after: edited === text ? before : edited, agent: changed };
}

function edit(text: string, agent: Agent, effort: string | null): string {
  const { agents } = JSON.parse(text) as { agents: { id: string }[] };
  const at = agents.findIndex((entry) => entry.id === agent.id);
  if (at === -1 && effort === null) return text;
  const entry = { id: agent.id, harness: agent.harness, default_effort: effort };
  const edited =
    at === -1
      ? appendToList(text, ['agents'], entry)
      : effort === null
        ? removeKey(text, ['agents', at, 'default_effort'])
        : setKey(text, ['agents', at, 'default_effort'], effort);
  // The text is spliced by position, so it is written only if it parses to the intended value.
  const meant = structuredClone(JSON.parse(text)) as { agents: Record<string, unknown>[] };
  if (at === -1) meant.agents.push(entry);
  else if (effort === null) delete meant.agents[at]!.default_effort;
  else meant.agents[at]!.default_effort = effort;
  if (!isDeepStrictEqual(JSON.parse(edited), meant))
    throw new CodedError('internal', 'the agents file could not be edited in place; edit it by hand');
  return edited;
}
