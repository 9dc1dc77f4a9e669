import { isCoded, messageOf } from '../base/errors.ts';
import { shellWord } from '../base/shell-word.ts';
import type { Agent } from '../contract/agent.ts';
import type { HarnessName } from '../contract/harness-name.ts';
import type { HarnessAdapter, HarnessFinding } from './adapter.ts';
import { type AgentRegistry, resolveAgent } from './agents/registry.ts';
import { checkReadiness, lackOf } from './readiness.ts';

/** A finding and the ids of the agents that it concerns. */
export type AgentFinding = HarnessFinding & { agents: string[] };

/** A fiber to be worked on here: the agent that it names (null: the default one), and its folder. */
export type AgentUse = { fiber: string; agent: string | null; project_dir: string | null };

export type HarnessCheck = {
  /** Ids of the agents that would start. */
  startable: string[];
  /** Ids of the agents whose program is not found. */
  missing: string[];
  findings: AgentFinding[];
};

/**
 * Which agents can start here, and what would block or break a launch: each agent that a fiber uses is checked in that
 * fiber's folder, every other agent without a folder. A finding about an agent that no fiber uses is only a warning,
 * and there is none of one whose program is not there.
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
  const missing: string[] = [];
  for (const agent of registry.agents) {
    const used = folders.get(agent.id);
    let starts = true;
    let there = true;
    for (const project_dir of used ?? [null]) {
      const { installed, findings } = await findingsIn(project_dir, agent, { adapters, env });
      if (!installed) there = false;
      for (const finding of findings) {
        if (finding.severity === 'error') starts = false;
        if (used !== undefined) add(agent.id, finding);
        else if (installed) add(agent.id, { ...finding, severity: 'warning' });
      }
    }
    if (starts) startable.push(agent.id);
    if (!there) missing.push(agent.id);
  }
  return { startable, missing, findings: [...found.values()] };
}

/** What keeps an agent from its work in a folder. A fault of one folder must not hide the findings about the others. */
async function findingsIn(
  project_dir: string | null,
  agent: Agent,
  { adapters, env }: { adapters: Record<HarnessName, HarnessAdapter>; env: NodeJS.ProcessEnv },
): Promise<{ installed: boolean; findings: HarnessFinding[] }> {
  try {
    const readiness = await checkReadiness({ agent, project_dir, adapters, env });
    if (readiness.installed) return readiness;
    return { installed: false, findings: [{ severity: 'error', ...lackOf(agent, readiness) }] };
  } catch (error) {
    const where = project_dir === null ? '' : ` in ${project_dir}`;
    const what = `agent ${agent.id} could not be checked${where}: ${messageOf(error)}`;
    const mend = 'correct the file or folder that it names';
    return { installed: true, findings: [{ severity: 'error', what, mend }] };
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
      const mend = `choose another with: svc fiber edit ${shellWord(fiber)} --set svc.agent=ID`;
      unknown.push({ severity: 'error', what: `${fiber}: ${error.message}`, mend });
    }
  }
  return { folders, unknown };
}
