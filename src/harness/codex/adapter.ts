import type { Agent } from '../../contract/agent.ts';
import { type HarnessAdapter, type LaunchArgument, PROMPT, pointerTo } from '../adapter.ts';
import { agentEnvironment } from '../agent-environment.ts';
import { probing } from '../transcripts/transcript-files.ts';
import { checkCodexFirstRun } from './first-run.ts';
import { findCodexTranscript, learnCodexTranscript } from './transcript.ts';

/**
 * Given to every start. Without the first the program hands its work to a background server of its own, and
 * ending the terminal session would not end the work; the second is a question that eats the launch prompt. By
 * the third its commands run in plain shells: a login shell sets PATH anew, and `svc` would not be on it.
 */
const EVERY_START = [
  ...['-c', 'features.daemon_auto_start=false'],
  ...['-c', 'check_for_update_on_startup=false'],
  ...['-c', 'allow_login_shell=false'],
];

/** Codex: it assigns the session id itself, at the first turn, so a fresh launch's id is learned. */
export function codexAdapter(options: { env: NodeJS.ProcessEnv }): HarnessAdapter {
  return {
    name: 'codex',

    planLaunch({ agent, effort, resume, project_dir, prompt_file }) {
      const argv: LaunchArgument[] = [agent.cli, ...agent.args, ...EVERY_START, '-C', project_dir];
      if (agent.model !== null) argv.push('-m', agent.model);
      if (effort !== null) argv.push('-c', `model_reasoning_effort=${JSON.stringify(effort)}`);
      if (resume !== null) argv.push('resume', resume);
      argv.push(agent.prompt === 'argument' ? PROMPT : pointerTo(prompt_file));
      return { argv, prompt_on_stdin: false, env: { ...agent.env }, session_uuid: resume, files: [] };
    },

    findTranscript(query) {
      const { codex_home } = agentEnvironment(query.agent, options.env);
      const { session_uuid } = query;
      return probing(() =>
        session_uuid === null
          ? learnCodexTranscript(codex_home, query)
          : findCodexTranscript(codex_home, session_uuid),
      );
    },

    resumeArgv: (agent, session_uuid) => [...command(agent), 'resume', session_uuid],

    checkFirstRun: (query) => checkCodexFirstRun(query, options),
  };
}

function command(agent: Agent): string[] {
  const model = agent.model === null ? [] : ['-m', agent.model];
  return [agent.cli, ...agent.args, ...EVERY_START, ...model];
}
