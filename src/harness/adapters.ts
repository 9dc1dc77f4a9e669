import type { HarnessName } from '../contract/harness-name.ts';
import type { HarnessAdapter } from './adapter.ts';
import type { Capabilities } from './capabilities.ts';
import type { Harness, ProcessFacts } from './harness.ts';
import { forEachHarness, harnessEnvironment } from './harnesses.ts';
import { probing } from './transcripts/transcript-files.ts';

/** The facts about this process and the installed programs that the adapters depend on. */
export type AdapterSurroundings = ProcessFacts & { capabilities: Capabilities };

/** The adapter of each harness, bound to this process. */
export function createAdapters(surroundings: AdapterSurroundings): Record<HarnessName, HarnessAdapter> {
  return forEachHarness((harness) => adapterOf(harness, surroundings));
}

function adapterOf(harness: Harness, { capabilities, env, uid }: AdapterSurroundings): HarnessAdapter {
  return {
    name: harness.name,
    planLaunch(request) {
      const { agent } = request;
      const launch = harness.planLaunch(request, capabilities.choosesSessionId(agent));
      return { prompt_on_stdin: false, env: { ...agent.env }, files: [], ...launch };
    },
    findTranscript: (query) =>
      probing(() => harness.transcripts.find(query, harnessEnvironment(query.agent, env))),
    resumeArgv: (agent, session_uuid) => harness.resumeArgv(agent, session_uuid),
    checkFirstRun: (query) =>
      harness.checkFirstRun(query, harnessEnvironment(query.agent, env), { env, uid }),
    signIn: (agent) => harness.signIn(agent, harnessEnvironment(agent, env), { env, uid }),
  };
}
