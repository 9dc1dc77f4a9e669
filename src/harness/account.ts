import { createHash } from 'node:crypto';
import type { Agent } from '../contract/agent.ts';
import { agentEnvironment } from './agent-environment.ts';
import { HARNESSES } from './harnesses.ts';

/**
 * Names the account that an agent works on, so that agents which share one wait for its limits together: by
 * harness, the folder with its login, and the variables that replace that login. Nothing secret can be read from
 * it.
 */
export function accountOf(agent: Agent, env: NodeJS.ProcessEnv): string {
  const { account, folder } = HARNESSES[agent.harness];
  const environment = agentEnvironment(agent, env);
  const parts = [
    folder(environment),
    ...account.variables.map((name) => environment.get(name) ?? ''),
    ...account.ofAgent(agent),
  ];
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `${agent.harness}-${digest.slice(0, 16)}`;
}
