import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../base/errors.ts';
import type { Agent } from '../../contract/agent.ts';
import type { HarnessName } from '../../contract/harness-name.ts';
import type { Disks } from '../../platform/disks.ts';
import { agentEnvironment } from '../agent-environment.ts';
import { harnessFolder } from '../guarded-adapter.ts';
import { findTranscriptPath } from './past-session.ts';

/** A session to look for; what the ledger does not say of it is null. */
export type WantedSession = { session: string; harness: HarnessName | null; agent: string | null };
export type FoundTranscript = { harness: HarnessName; path: string };

/**
 * Finds transcripts by the ids of their sessions alone, for a pool thread; one answer for each, in order. Where the
 * ledger names the agent, its own folders are looked at first; folders whose disk does not answer are passed over.
 * Throws what the disk says when it refuses.
 */
export async function findTranscripts(
  agents: readonly Agent[],
  wanted: readonly WantedSession[],
  env: NodeJS.ProcessEnv,
  disks: Pick<Disks, 'prove'>,
): Promise<(FoundTranscript | null)[]> {
  const projects = new ProjectFolders();
  const found: (FoundTranscript | null)[] = [];
  for (const one of wanted) {
    let hit: FoundTranscript | null = null;
    for (const agent of placesToLook(agents, one, env)) {
      if ((await disks.prove(harnessFolder(agent, env))) !== 'answers') continue;
      const path =
        agent.harness === 'claude'
          ? projects.find(agentEnvironment(agent, env).claude_dir, one.session)
          : await findTranscriptPath(agent, one.session, env);
      if (path === null) continue;
      hit = { harness: agent.harness, path };
      break;
    }
    found.push(hit);
  }
  return found;
}

/** An agent for each folder in which the transcript may lie, the likeliest first. */
function placesToLook(agents: readonly Agent[], wanted: WantedSession, env: NodeJS.ProcessEnv): Agent[] {
  const possible = agents.filter(({ harness }) => wanted.harness === null || harness === wanted.harness);
  possible.sort((a, b) => Number(b.id === wanted.agent) - Number(a.id === wanted.agent));
  const places = new Map<string, Agent>();
  for (const agent of possible) {
    const { claude_dir, codex_home, pi_agent_dir, get } = agentEnvironment(agent, env);
    const place = {
      claude: claude_dir,
      codex: codex_home,
      pi: JSON.stringify([pi_agent_dir, get('PI_CODING_AGENT_SESSION_DIR'), agent.args]),
    }[agent.harness];
    const key = `${agent.harness} ${place}`;
    if (!places.has(key)) places.set(key, agent);
  }
  return [...places.values()];
}

/** The project folders of Claude Code, each `projects` listed once however many sessions are looked for. */
class ProjectFolders {
  #folders = new Map<string, string[]>();

  find(claude_dir: string, session: string): string | null {
    const projects = join(claude_dir, 'projects');
    for (const folder of this.#list(projects)) {
      const path = join(projects, folder, `${session}.jsonl`);
      if (isFile(path)) return path;
    }
    return null;
  }

  #list(projects: string): string[] {
    const known = this.#folders.get(projects);
    if (known !== undefined) return known;
    const folders = names(projects);
    this.#folders.set(projects, folders);
    return folders;
  }
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch (error) {
    // A file beside the project folders, or a folder of somebody else's.
    if (['ENOTDIR', 'EACCES'].includes(systemCode(error) ?? '')) return false;
    throw error;
  }
}
