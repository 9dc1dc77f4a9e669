import { basename } from 'node:path';
import type { Agent } from '../contract/agent.ts';
import type { HarnessName } from '../contract/harness-name.ts';
import type { SignIn } from '../contract/http/doctor.ts';
import { findExecutable } from '../platform/find-executable.ts';
import type { HarnessAdapter, HarnessFinding } from './adapter.ts';
import { agentEnvironment } from './agent-environment.ts';
import { HARNESSES } from './harnesses.ts';

/** What is known of an agent before it is started. */
export type Readiness = {
  /** Its program is found. */
  installed: boolean;
  account: SignIn;
  /** What would make it wait for a person in this folder, or fail there; empty where the program is not found. */
  findings: HarnessFinding[];
};

const UNTOLD: SignIn = { signed_in: null, mend: null };

/**
 * Looks at one agent as it would be started in a folder (null: in no particular one). Of a program that only stands in
 * for the one of its harness nothing is known but whether it is installed.
 */
export async function checkReadiness(query: {
  agent: Agent;
  project_dir: string | null;
  adapters: Record<HarnessName, Pick<HarnessAdapter, 'checkFirstRun' | 'signIn'>>;
  env: NodeJS.ProcessEnv;
}): Promise<Readiness> {
  const { agent, project_dir, adapters, env } = query;
  const installed = await isInstalled(agent, project_dir, env);
  if (!installed || basename(agent.cli) !== HARNESSES[agent.harness].defaults.cli)
    return { installed, account: UNTOLD, findings: [] };
  const adapter = adapters[agent.harness];
  const [account, findings] = await Promise.all([
    adapter.signIn(agent),
    adapter.checkFirstRun({ agent, project_dir }),
  ]);
  return { installed, account, findings };
}

/** Whether the program of an agent is found, as a start in a folder looks for it. */
export async function isInstalled(
  agent: Agent,
  project_dir: string | null,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const path = agentEnvironment(agent, env).get('PATH') ?? '';
  return (await findExecutable(agent.cli, path, project_dir ?? undefined)) !== null;
}

/** Whether a start could lead to work: a first-run question can be answered in its terminal, a missing login cannot. */
export function canStart({ installed, account }: Pick<Readiness, 'installed' | 'account'>): boolean {
  return installed && account.signed_in !== false;
}

/** What an agent that cannot start lacks, with its fix in brackets. */
export function lackWords(
  agent: Pick<Agent, 'harness' | 'cli'>,
  readiness: Pick<Readiness, 'installed' | 'account'>,
): string {
  const { what, mend } = lackOf(agent, readiness);
  return `${what} (${mend})`;
}

/** What an agent that cannot start lacks, and its fix. */
export function lackOf(
  { harness, cli }: Pick<Agent, 'harness' | 'cli'>,
  { installed, account }: Pick<Readiness, 'installed' | 'account'>,
): { what: string; mend: string } {
  const { title, install, defaults } = HARNESSES[harness];
  if (installed)
    return { what: `${title} is not signed in`, mend: account.mend ?? `run "${cli}" once and sign in` };
  if (cli !== defaults.cli)
    return { what: `"${cli}" is not installed`, mend: 'install it, or change "cli" in agents.json' };
  return { what: `${title} is not installed`, mend: `${install}, then run "${cli}" once to sign in` };
}
