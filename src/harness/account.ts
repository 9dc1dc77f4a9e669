import { createHash } from 'node:crypto';
import type { Agent } from '../contract/agent.ts';
import type { HarnessName } from '../contract/harness-name.ts';
import { agentEnvironment } from './agent-environment.ts';
import { optionValue } from './option-value.ts';

/** Variables that decide on whose account a program of each harness works. */
const CREDENTIALS: Record<HarnessName, readonly string[]> = {
  claude: [
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'ANTHROPIC_BASE_URL',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CODE_USE_BEDROCK',
    'CLAUDE_CODE_USE_VERTEX',
  ],
  codex: ['CODEX_API_KEY', 'OPENAI_API_KEY', 'OPENAI_BASE_URL'],
  pi: [],
};

/**
 * Names the account that an agent works on, so that agents which share one wait for its limits together: by
 * harness, the folder with its login, and the variables that replace that login. Nothing secret can be read from
 * it.
 */
export function accountOf(agent: Agent, env: NodeJS.ProcessEnv): string {
  const { get, claude_dir, codex_home, pi_agent_dir } = agentEnvironment(agent, env);
  const folder = { claude: claude_dir, codex: codex_home, pi: pi_agent_dir }[agent.harness];
  const parts = [
    folder,
    ...CREDENTIALS[agent.harness].map((name) => get(name) ?? ''),
    ...(agent.harness === 'codex' ? [optionValue(agent.args, '--profile', '-p') ?? ''] : []),
    // Pi reaches many providers: each has limits of its own.
    ...(agent.harness === 'pi'
      ? [optionValue(agent.args, '--provider') ?? agent.model?.split('/')[0] ?? '']
      : []),
  ];
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `${agent.harness}-${digest.slice(0, 16)}`;
}
