import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Agent } from '../contract/agent.ts';

/** The environment of an agent's program: the agent's own `env` over the environment of the process that starts it. */
export type AgentEnvironment = {
  /** The value of a variable; undefined when unset or empty. */
  get(name: string): string | undefined;
  home: string;
};

/** The same, with the folder of the program's settings, skills and transcripts. */
export type HarnessEnvironment = AgentEnvironment & { folder: string };

/** The environment of an agent's program: the agent's `env` over `base`. */
export function agentEnvironment(agent: Pick<Agent, 'env'>, base: NodeJS.ProcessEnv): AgentEnvironment {
  const get = (name: string) => agent.env[name] || base[name] || undefined;
  return { get, home: get('HOME') ?? homedir() };
}

/** The folder that a variable names; by default the one with the name `inHome` in the home folder. */
export function folderNamed({ get, home }: AgentEnvironment, variable: string, inHome: string): string {
  return get(variable) ?? join(home, inHome);
}

/** Replaces a leading `~` with the home folder. */
export function expandHome(path: string, { home }: AgentEnvironment): string {
  return path.replace(/^~(?=\/|$)/, home);
}
