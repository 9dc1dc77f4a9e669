import type { Agent } from '../../contract/agent.ts';
import type { HarnessName } from '../../contract/harness-name.ts';
import { HARNESSES } from '../harnesses.ts';

/** The agents that exist without an operator file. Without a model, the program's own configured model is used. */
export function builtinAgents(): Agent[] {
  return [
    builtin('claude-sonnet', 'claude', 'sonnet', true),
    builtin('claude-opus', 'claude', 'opus'),
    builtin('claude-haiku', 'claude', 'haiku'),
    builtin('codex', 'codex', null),
    builtin('codex-sol', 'codex', 'gpt-6.1-sol'),
    builtin('codex-terra', 'codex', 'gpt-6.1-terra'),
    builtin('pi', 'pi', null),
  ];
}

function builtin(id: string, harness: HarnessName, model: string | null, isDefault = false): Agent {
  const { cli, args, effort_levels } = HARNESSES[harness].defaults;
  return {
    id,
    harness,
    cli,
    model,
    args: [...args],
    effort_levels: [...effort_levels],
    default_effort: null,
    default: isDefault,
    aliases: [],
    env: {},
    source: 'builtin',
  };
}
