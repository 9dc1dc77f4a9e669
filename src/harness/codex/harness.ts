import type { Agent } from '../../contract/agent.ts';
import { type LaunchArgument, PROMPT, pointerTo } from '../adapter.ts';
import { type AgentEnvironment, folderNamed } from '../agent-environment.ts';
import type { Harness } from '../harness.ts';
import { optionValue } from '../option-value.ts';
import { checkFirstRun } from './first-run.ts';
import { records } from './records.ts';
import { hooks, setupTarget } from './setup.ts';
import { findSession, findTranscript, learnTranscript } from './transcript.ts';

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

const folder = (environment: AgentEnvironment) => folderNamed(environment, 'CODEX_HOME', '.codex');

/** Codex: it assigns the session id itself, at the first turn, so a fresh launch's id is learned. */
export const codex: Harness = {
  name: 'codex',
  title: 'Codex',
  install: 'npm install -g @openai/codex',
  // It never asks and is not sandboxed: its sandbox would keep a worker from its store and from the daemon.
  defaults: {
    cli: 'codex',
    args: ['-a', 'never', '-s', 'danger-full-access'],
    effort_levels: ['low', 'medium', 'high', 'xhigh'],
  },
  session_id: 'assigned',
  session_variable: 'CODEX_THREAD_ID',
  folder,
  account: {
    variables: ['CODEX_API_KEY', 'OPENAI_API_KEY', 'OPENAI_BASE_URL'],
    ofAgent: ({ args }) => [optionValue(args, '--profile', '-p') ?? ''],
  },

  planLaunch({ agent, effort, resume, project_dir, prompt_file }) {
    const argv: LaunchArgument[] = [agent.cli, ...agent.args, ...EVERY_START, '-C', project_dir];
    argv.push(...model(agent));
    if (effort !== null) argv.push('-c', `model_reasoning_effort=${JSON.stringify(effort)}`);
    if (resume !== null) argv.push('resume', resume);
    argv.push(agent.prompt === 'argument' ? PROMPT : pointerTo(prompt_file));
    return { argv, prompt_on_stdin: false, env: { ...agent.env }, session_uuid: resume, files: [] };
  },

  resumeArgv: (agent, session_uuid) => [
    agent.cli,
    ...agent.args,
    ...EVERY_START,
    ...model(agent),
    'resume',
    session_uuid,
  ],

  checkFirstRun: (query, process) => checkFirstRun(query, folder, process),

  transcripts: {
    find: (query, environment) =>
      query.session_uuid === null
        ? learnTranscript(folder(environment), query)
        : findTranscript(folder(environment), query.session_uuid),
    findSession: (_agent, session, environment) => findSession(folder(environment), session),
    place: (_agent, environment) => folder(environment),
  },
  records,

  setup: { target: setupTarget, compareHooks: hooks.compare },
};

function model(agent: Agent): string[] {
  return agent.model === null ? [] : ['-m', agent.model];
}
