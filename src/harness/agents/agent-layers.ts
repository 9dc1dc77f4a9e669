import type { z } from 'zod';
import type { Agent, agentEntrySchema } from '../../contract/agent.ts';
import { HARNESSES } from '../harnesses.ts';

export type AgentEntry = z.output<typeof agentEntrySchema>;
/** Throws the error that says why a file cannot be used. */
export type Refuse = (reason: string) => never;

/**
 * Merges the entries of a file into the built-in agents: an entry with the id and harness of a built-in agent overrides
 * the fields that it sets; `restrict` keeps only the agents that the file lists.
 */
export function layerAgents(
  layers: { entries: AgentEntry[]; builtins: Agent[]; restrict: boolean },
  refuse: Refuse,
): Agent[] {
  const { entries, builtins, restrict } = layers;
  const repeated = entries.find((entry, index) => entries.findIndex(({ id }) => id === entry.id) !== index);
  if (repeated !== undefined) refuse(`"${repeated.id}" is listed twice; keep one of the two`);
  const defaults = entries.filter((entry) => entry.default === true).map((entry) => `"${entry.id}"`);
  if (defaults.length > 1) refuse(`${defaults.join(' and ')} are both the default; keep one of them`);

  const fromFile = entries.map((entry) => {
    const agent = agentOf(
      entry,
      builtins.find((builtin) => builtin.id === entry.id),
    );
    const { default_effort, effort_levels } = agent;
    if (default_effort !== null && !effort_levels.includes(default_effort)) {
      refuse(
        `default_effort "${default_effort}" of "${agent.id}" is not one of its effort_levels (${effort_levels.join(', ')})`,
      );
    }
    return agent;
  });
  const isListed = (agent: Agent) => fromFile.some(({ id }) => id === agent.id);
  const kept = restrict ? [] : builtins.filter((builtin) => !isListed(builtin));
  const all = [...kept, ...fromFile];
  const hasOwnDefault = defaults.length === 1;
  return hasOwnDefault
    ? all.map((agent) => ({ ...agent, default: defaults.includes(`"${agent.id}"`) }))
    : all;
}

function agentOf(entry: AgentEntry, builtin: Agent | undefined): Agent {
  const base: Agent =
    builtin !== undefined && builtin.harness === entry.harness
      ? builtin
      : {
          ...HARNESSES[entry.harness].defaults,
          id: entry.id,
          harness: entry.harness,
          model: null,
          default_effort: null,
          default: false,
          aliases: [],
          env: {},
          source: 'file',
        };
  return {
    ...base,
    cli: entry.cli ?? base.cli,
    model: entry.model === undefined ? base.model : entry.model,
    args: entry.args ?? base.args,
    effort_levels: entry.effort_levels ?? base.effort_levels,
    default_effort: entry.default_effort === undefined ? base.default_effort : entry.default_effort,
    default: entry.default ?? base.default,
    aliases: entry.aliases ?? base.aliases,
    env: entry.env ?? base.env,
    ...(entry.prompt === undefined ? {} : { prompt: entry.prompt }),
    ...(entry.memory_max === undefined ? {} : { memory_max: entry.memory_max }),
    source: 'file',
  };
}
