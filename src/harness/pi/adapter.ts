import type { Agent } from '../../contract/agent.ts';
import { type HarnessAdapter, type LaunchArgument, PROMPT } from '../adapter.ts';
import { agentEnvironment } from '../agent-environment.ts';
import type { Capabilities } from '../capabilities.ts';
import { probing } from '../transcripts/transcript-files.ts';
import { checkPiFirstRun } from './first-run.ts';
import { findPiTranscript, learnPiTranscript } from './transcript.ts';

/** Pi: the caller chooses the session id, except in versions that cannot; then it is learned. */
export function piAdapter(options: { env: NodeJS.ProcessEnv; capabilities: Capabilities }): HarnessAdapter {
  return {
    name: 'pi',

    planLaunch({ agent, effort, resume, session_uuid, session_name, prompt_file }) {
      const chooses = options.capabilities.choosesSessionId(agent);
      const argv: LaunchArgument[] = [agent.cli, ...agent.args];
      if (resume !== null) argv.push('--session', resume);
      else if (chooses) argv.push('--session-id', session_uuid, '--name', session_name);
      if (agent.model !== null) argv.push('--model', agent.model);
      if (effort !== null) argv.push('--thinking', effort);
      argv.push(agent.prompt === 'argument' ? PROMPT : `@${prompt_file}`);
      const known = resume ?? (chooses ? session_uuid : null);
      return { argv, prompt_on_stdin: false, env: { ...agent.env }, session_uuid: known, files: [] };
    },

    findTranscript(query) {
      const environment = agentEnvironment(query.agent, options.env);
      const { session_uuid } = query;
      return probing(() =>
        session_uuid === null
          ? learnPiTranscript(environment, query)
          : findPiTranscript(environment, query, session_uuid),
      );
    },

    resumeArgv: (agent, session_uuid) => [...command(agent), '--session', session_uuid],

    checkFirstRun: (query) => checkPiFirstRun(query, options),
  };
}

function command(agent: Agent): string[] {
  const model = agent.model === null ? [] : ['--model', agent.model];
  return [agent.cli, ...agent.args, ...model];
}
