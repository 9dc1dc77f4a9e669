import { isCoded, messageOf } from '../base/errors.ts';
import type { Agent } from '../contract/agent.ts';
import type { HarnessName } from '../contract/harness-name.ts';
import { findExecutable } from '../platform/find-executable.ts';
import type { HarnessAdapter, HarnessFinding } from './adapter.ts';
import { agentEnvironment } from './agent-environment.ts';
import { type AgentRegistry, resolveAgent } from './agents/registry.ts';

/** A finding and the ids of the agents that it concerns. */
export type AgentFinding = HarnessFinding & { agents: string[] };

/** A fiber to be worked on here: the agent that it names (null: the default one), and its folder. */
export type AgentUse = { fiber: string; agent: string | null; project_dir: string | null };

export type HarnessCheck = {
  /** Ids of the agents that would start. */
  startable: string[];
  findings: AgentFinding[];
};

/**
 * Which agents can start here, and what would block or break a launch: each agent that a fiber uses is checked in that
 * fiber's folder, every other agent without a folder. A finding about an agent that no fiber uses is only a warning.
 */
export async function checkHarnesses(query: {
  registry: AgentRegistry;
  adapters: Record<HarnessName, HarnessAdapter>;
  env: NodeJS.ProcessEnv;
  uses: readonly AgentUse[];
}): Promise<HarnessCheck> {
  const { registry, adapters, env } = query;
  const found = new Map<string, AgentFinding>();
  const add = (agent: string | null, finding: HarnessFinding) => {
    const key = JSON.stringify([finding.what, finding.mend]);
    const known = found.get(key) ?? { ...finding, agents: [] };
    if (finding.severity === 'error') known.severity = 'error';
    if (agent !== null && !known.agents.includes(agent)) known.agents.push(agent);
    found.set(key, known);
  };
  const { folders, unknown } = foldersByAgent(registry, query.uses);
  for (const finding of unknown) add(null, finding);
  const startable: string[] = [];
  for (const agent of registry.agents) {
    const used = folders.get(agent.id);
    if (used === undefined && !agent.default && isMissing(agent, env)) {
      add(agent.id, {
        severity: 'warning',
        what: `"${agent.cli}" is not installed`,
        mend: 'install it if you want to use its agents',
      });
      continue;
    }
    let starts = true;
    for (const project_dir of used ?? [null]) {
      for (const finding of await firstRunFindings(adapters[agent.harness], { agent, project_dir })) {
        if (finding.severity === 'error') starts = false;
        add(agent.id, used === undefined ? { ...finding, severity: 'warning' } : finding);
      }
    }
    if (starts) startable.push(agent.id);
  }
  return { startable, findings: [...found.values()] };
}

/** A fault of one folder or configuration must not hide the findings about the others. */
async function firstRunFindings(
  adapter: HarnessAdapter,
  query: { agent: Agent; project_dir: string | null },
): Promise<HarnessFinding[]> {
  try {
    return await adapter.checkFirstRun(query);
  } catch (error) {
    const where = query.project_dir === null ? '' : ` in ${query.project_dir}`;
    const what = `agent ${query.agent.id} could not be checked${where}: ${messageOf(error)}`;
    return [{ severity: 'error', what, mend: 'correct the file or folder that it names' }];
  }
}

/** The folders in which each agent is used, and the findings about agents that do not exist. */
function foldersByAgent(
  registry: AgentRegistry,
  uses: readonly AgentUse[],
): { folders: Map<string, Set<string | null>>; unknown: HarnessFinding[] } {
  const folders = new Map<string, Set<string | null>>();
  const unknown: HarnessFinding[] = [];
  for (const { fiber, agent, project_dir } of uses) {
    try {
      const { id } = resolveAgent(registry, agent);
      folders.set(id, (folders.get(id) ?? new Set()).add(project_dir));
    } catch (error) {
      if (!isCoded(error, 'agent_unknown')) throw error;
      const mend = `choose another with: svc fiber edit ${fiber} --set svc.agent=ID`;
      unknown.push({ severity: 'error', what: `${fiber}: ${error.message}`, mend });
    }
  }
  return { folders, unknown };
}

function isMissing(agent: Agent, env: NodeJS.ProcessEnv): boolean {
  return findExecutable(agent.cli, agentEnvironment(agent, env).get('PATH') ?? '') === null;
}
