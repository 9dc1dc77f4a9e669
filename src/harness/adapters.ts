import type { HarnessName } from '../contract/harness-name.ts';
import type { HarnessAdapter } from './adapter.ts';
import { agentEnvironment } from './agent-environment.ts';
import type { Capabilities } from './capabilities.ts';
import type { Harness, ProcessFacts } from './harness.ts';
import { forEachHarness } from './harnesses.ts';
import { probing } from './transcripts/transcript-files.ts';

/** What the adapters read of the process that starts the agents, and of the programs that it starts. */
export type AdapterSurroundings = ProcessFacts & { capabilities: Capabilities };

/** The adapter of each harness: the harness as this process can use it. */
export function createAdapters(surroundings: AdapterSurroundings): Record<HarnessName, HarnessAdapter> {
  return forEachHarness((harness) => adapterOf(harness, surroundings));
}

function adapterOf(harness: Harness, { capabilities, env, uid }: AdapterSurroundings): HarnessAdapter {
  return {
    name: harness.name,
    planLaunch: (request) => harness.planLaunch(request, capabilities.choosesSessionId(request.agent)),
    findTranscript: (query) =>
      probing(() => harness.transcripts.find(query, agentEnvironment(query.agent, env))),
    resumeArgv: (agent, session_uuid) => harness.resumeArgv(agent, session_uuid),
    checkFirstRun: (query) => harness.checkFirstRun(query, { env, uid }),
  };
}
