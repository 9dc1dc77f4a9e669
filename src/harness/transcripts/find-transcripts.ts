import { isCoded } from '../../base/errors.ts';
import type { Agent } from '../../contract/agent.ts';
import type { HarnessName } from '../../contract/harness-name.ts';
import { forEachHarness, HARNESSES, harnessEnvironment } from '../harnesses.ts';

/** A session to find; null for what the ledger does not record. */
export type WantedSession = { session: string; harness: HarnessName | null; agent: string | null };
/** `linked`: it may contain the address of a page that shows the session. */
export type FoundTranscript = { harness: HarnessName; path: string; linked: boolean };
/** Where a transcript may be could not be looked at. */
export type UnknownTranscript = { fault: string };

/**
 * Finds transcripts by session id, for a pool thread; one result per session, in order. If the ledger names the agent,
 * its folders are searched first. A disk that does not answer makes only those unknown that are found nowhere else. Throws
 * other disk errors.
 */
export async function findTranscripts(
  agents: readonly Agent[],
  wanted: readonly WantedSession[],
  env: NodeJS.ProcessEnv,
): Promise<(FoundTranscript | UnknownTranscript | null)[]> {
  const searches = forEachHarness(({ transcripts }) => transcripts.searchMany?.() ?? transcripts.findSession);
  const found: (FoundTranscript | UnknownTranscript | null)[] = [];
  for (const one of wanted) {
    let hit: FoundTranscript | UnknownTranscript | null = null;
    for (const agent of placesToLook(agents, one, env)) {
      const environment = harnessEnvironment(agent, env);
      const { harness } = agent;
      let path: string | null = null;
      try {
        path = await searches[harness](agent, one.session, environment);
      } catch (error) {
        if (!isCoded(error, 'file_unavailable')) throw error;
        hit = { fault: error.message };
      }
      if (path === null) continue;
      hit = { harness, path, linked: HARNESSES[harness].transcripts.findLink !== undefined };
      break;
    }
    found.push(hit);
  }
  return found;
}

/** One agent for each folder that may contain the transcript, the most likely first. */
function placesToLook(agents: readonly Agent[], wanted: WantedSession, env: NodeJS.ProcessEnv): Agent[] {
  const possible = agents.filter(({ harness }) => wanted.harness === null || harness === wanted.harness);
  possible.sort((a, b) => Number(b.id === wanted.agent) - Number(a.id === wanted.agent));
  const places = new Map<string, Agent>();
  for (const agent of possible) {
    const environment = harnessEnvironment(agent, env);
    const place = HARNESSES[agent.harness].transcripts.place?.(agent, environment) ?? environment.folder;
    const key = `${agent.harness} ${place}`;
    if (!places.has(key)) places.set(key, agent);
  }
  return [...places.values()];
}
