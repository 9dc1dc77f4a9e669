import { sha256Of } from '../base/digest.ts';
import type { Agent } from '../contract/agent.ts';
import { HARNESSES, harnessEnvironment } from './harnesses.ts';

/**
 * Identifies the account that an agent uses, so that agents on the same account wait for its usage limits together. The
 * id is derived from the harness, the folder with its login, and the variables that replace that login; it reveals no
 * secret.
 */
export function accountOf(agent: Agent, env: NodeJS.ProcessEnv): string {
  const { account } = HARNESSES[agent.harness];
  const { folder, get } = harnessEnvironment(agent, env);
  const parts = [
    folder,
    ...account.variables.map((name) => get(name) ?? ''),
    ...(account.ofAgent?.(agent) ?? []),
  ];
  const digest = sha256Of(JSON.stringify(parts));
  return `${agent.harness}-${digest.slice(0, 16)}`;
}
