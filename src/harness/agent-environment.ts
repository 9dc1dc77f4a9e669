import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Agent } from '../contract/agent.ts';

/** Where an agent's program looks for its things: its own `env` over the environment it is started from. */
export type AgentEnvironment = {
  /** A variable as the program will see it; undefined when unset or empty. */
  get(name: string): string | undefined;
  home: string;
  /** The folder that holds `settings.json` and `projects/` of Claude Code. */
  claude_dir: string;
  /** The folder that holds `.claude.json`: the home, unless the config dir was moved. */
  claude_state_dir: string;
  codex_home: string;
  pi_agent_dir: string;
};

/** Reads the folders of all three harnesses from the agent's `env`, else from `base`. */
export function agentEnvironment(agent: Agent, base: NodeJS.ProcessEnv): AgentEnvironment {
  const get = (name: string) => nonEmpty(agent.env[name]) ?? nonEmpty(base[name]);
  const home = get('HOME') ?? homedir();
  const expand = (path: string | undefined) => path?.replace(/^~(?=\/|$)/, home);
  const claudeConfigDir = get('CLAUDE_CONFIG_DIR');
  return {
    get,
    home,
    claude_dir: claudeConfigDir ?? join(home, '.claude'),
    claude_state_dir: claudeConfigDir ?? home,
    codex_home: get('CODEX_HOME') ?? join(home, '.codex'),
    pi_agent_dir: expand(get('PI_CODING_AGENT_DIR')) ?? join(home, '.pi', 'agent'),
  };
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
