import type { CodedError } from '../base/errors.ts';
import type { Agent } from '../contract/agent.ts';
import type { HarnessName } from '../contract/harness-name.ts';
import { findExecutable } from '../platform/find-executable.ts';
import type { HarnessAdapter, HarnessFinding } from './adapter.ts';
import { agentEnvironment } from './agent-environment.ts';
import type { AgentRegistry } from './registry.ts';

/** A finding and the agents that it concerns. */
export type AgentFinding = HarnessFinding & { agents: string[] };

/**
 * What `svc doctor` says of the harnesses: every agent's first-run findings, for each project or for none. A
 * built-in agent that nobody chose and whose program is not installed is only mentioned.
 */
export async function checkHarnesses(query: {
  registry: AgentRegistry;
  problem: CodedError | null;
  adapters: Record<HarnessName, HarnessAdapter>;
  env: NodeJS.ProcessEnv;
  project_dirs: readonly string[];
}): Promise<AgentFinding[]> {
  const { registry, problem, adapters, env, project_dirs } = query;
  const found = new Map<string, AgentFinding>();
  const add = (agent: string | null, finding: HarnessFinding) => {
    const key = JSON.stringify([finding.what, finding.mend]);
    const known = found.get(key) ?? { ...finding, agents: [] };
    if (agent !== null && !known.agents.includes(agent)) known.agents.push(agent);
    found.set(key, known);
  };
  if (problem !== null) {
    add(null, { severity: 'error', what: problem.message, mend: 'until then the built-in agents are used' });
  }
  const places = project_dirs.length === 0 ? [null] : project_dirs;
  for (const agent of registry.agents) {
    if (isUnusedBuiltin(agent, env)) {
      add(agent.id, {
        severity: 'warning',
        what: `"${agent.cli}" is not installed`,
        mend: 'install it to use its agents; nothing else needs it',
      });
      continue;
    }
    for (const project_dir of places) {
      for (const finding of await adapters[agent.harness].checkFirstRun({ agent, project_dir })) {
        add(agent.id, finding);
      }
    }
  }
  return [...found.values()];
}

function isUnusedBuiltin(agent: Agent, env: NodeJS.ProcessEnv): boolean {
  if (agent.source !== 'builtin' || agent.default) return false;
  return findExecutable(agent.cli, agentEnvironment(agent, env).get('PATH') ?? '') === null;
}
