import type { Agent } from '../../contract/agent.ts';
import type { HarnessName } from '../../contract/harness-name.ts';

/**
 * What an agent of a harness is unless its entry says otherwise: the program's own name, its effort levels, and
 * the arguments that let it work with nobody at the keyboard.
 *
 * - Claude Code judges each command itself (`auto`); it needs no accepted warning and also runs as root.
 * - Codex never asks and is not sandboxed: its sandbox would keep a worker from its store and from the daemon.
 * - Pi has no permission system; the folder's own Pi extensions are not loaded unless they were trusted before.
 */
export const HARNESS_DEFAULTS: Record<HarnessName, { cli: string; args: string[]; effort_levels: string[] }> =
  {
    claude: {
      cli: 'claude',
      args: ['--permission-mode', 'auto'],
      effort_levels: ['low', 'medium', 'high', 'xhigh', 'max'],
    },
    codex: {
      cli: 'codex',
      args: ['-a', 'never', '-s', 'danger-full-access'],
      effort_levels: ['low', 'medium', 'high', 'xhigh'],
    },
    pi: {
      cli: 'pi',
      args: [],
      effort_levels: ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
    },
  };

/** The agents that exist without an operator file; without a model the program's own configured one is used. */
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
  const { cli, args, effort_levels } = HARNESS_DEFAULTS[harness];
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
