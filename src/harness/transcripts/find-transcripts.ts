import type { Agent } from '../../contract/agent.ts';
import type { HarnessName } from '../../contract/harness-name.ts';
import type { Disks } from '../../platform/disks.ts';
import { forEachHarness, HARNESSES, harnessEnvironment } from '../harnesses.ts';

/** A session to find; null for what the ledger does not record. */
export type WantedSession = { session: string; harness: HarnessName | null; agent: string | null };
/** `linked`: it may contain the address of a page that shows the session. */
export type FoundTranscript = { harness: HarnessName; path: string; linked: boolean };

/**
 * Finds transcripts by session id, for a pool thread; one result per session, in order. If the ledger names the agent,
 * its folders are searched first; folders whose disk does not answer are skipped. Throws other disk errors.
 */
export async function findTranscripts(
  agents: readonly Agent[],
  wanted: readonly WantedSession[],
  env: NodeJS.ProcessEnv,
  disks: Pick<Disks, 'prove'>,
): Promise<(FoundTranscript | null)[]> {
  const searches = forEachHarness(({ transcripts }) => transcripts.searchMany?.() ?? transcripts.findSession);
  const found: (FoundTranscript | null)[] = [];
  for (const one of wanted) {
    let hit: FoundTranscript | null = null;
    for (const agent of placesToLook(agents, one, env)) {
      const environment = harnessEnvironment(agent, env);
      if ((await disks.prove(environment.folder)) !== 'answers') continue;
      const { harness } = agent;
      const path = await searches[harness](agent, one.session, environment);
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
