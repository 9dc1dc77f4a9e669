import { createHash } from 'node:crypto';
import type { Agent } from '../contract/agent.ts';
import { HARNESSES, harnessEnvironment } from './harnesses.ts';

/**
 * Names the account that an agent works on, so that agents which share one wait for its limits together: by
 * harness, the folder with its login, and the variables that replace that login. Nothing secret can be read from
 * it.
 */
export function accountOf(agent: Agent, env: NodeJS.ProcessEnv): string {
  const { account } = HARNESSES[agent.harness];
  const { folder, get } = harnessEnvironment(agent, env);
  const parts = [
    folder,
    ...account.variables.map((name) => get(name) ?? ''),
    ...(account.ofAgent?.(agent) ?? []),
  ];
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `${agent.harness}-${digest.slice(0, 16)}`;
}
