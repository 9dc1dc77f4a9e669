import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Agent } from '../contract/agent.ts';

/** What an agent's program sees: its own `env` over the environment it is started from. */
export type AgentEnvironment = {
  /** A variable as the program will see it; undefined when unset or empty. */
  get(name: string): string | undefined;
  home: string;
};

/** The same with the folder of the program's settings, skills and transcripts. */
export type HarnessEnvironment = AgentEnvironment & { folder: string };

/** The environment of an agent's program, from the agent's `env`, else from `base`. */
export function agentEnvironment(agent: Pick<Agent, 'env'>, base: NodeJS.ProcessEnv): AgentEnvironment {
  const get = (name: string) => agent.env[name] || base[name] || undefined;
  return { get, home: get('HOME') ?? homedir() };
}

/** The folder that a variable names, else the one of that name in the home. */
export function folderNamed({ get, home }: AgentEnvironment, variable: string, inHome: string): string {
  return get(variable) ?? join(home, inHome);
}

/** A path with a leading `~` as the home. */
export function expandHome(path: string, { home }: AgentEnvironment): string {
  return path.replace(/^~(?=\/|$)/, home);
}
