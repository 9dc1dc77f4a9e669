import { type LaunchArgument, PROMPT, pointerTo } from '../adapter.ts';
import { folderNamed } from '../agent-environment.ts';
import type { Harness } from '../harness.ts';
import { option, optionValue } from '../option-value.ts';
import { checkFirstRun, signIn } from './first-run.ts';
import { messageInput } from './message-input.ts';
import { records } from './records.ts';
import { hooks, setupTarget } from './setup.ts';
import { findSession, findTranscript, learnTranscript } from './transcript.ts';

/**
 * Added to every start. The first keeps the program from handing its work to its background server, where ending the
 * terminal session would not end the work. The second disables a question that would consume the launch prompt. The
 * third runs its commands in non-login shells: a login shell resets PATH, and `svc` might not be on it.
 */
const EVERY_START = [
  ...['-c', 'features.daemon_auto_start=false'],
  ...['-c', 'check_for_update_on_startup=false'],
  ...['-c', 'allow_login_shell=false'],
];

const FOLDER = 'CODEX_HOME';

/** Codex: it assigns the session id at the first turn, so the id of a fresh launch must be learned. */
export const codex: Harness = {
  name: 'codex',
  title: 'Codex',
  install: 'npm install -g @openai/codex',
  // It never asks and is not sandboxed: its sandbox would block a worker's access to its store and to the daemon.
  defaults: {
    cli: 'codex',
    args: ['-a', 'never', '-s', 'danger-full-access'],
    effort_levels: ['low', 'medium', 'high', 'xhigh'],
  },
  session_id: 'assigned',
  session_variable: 'CODEX_THREAD_ID',
  folder_variable: FOLDER,
  folder: (environment) => folderNamed(environment, FOLDER, '.codex'),
  account: {
    variables: ['CODEX_API_KEY', 'OPENAI_API_KEY', 'OPENAI_BASE_URL'],
    ofAgent: ({ args }) => [optionValue(args, '--profile', '-p') ?? ''],
  },

  planLaunch({ agent, effort, resume, project_dir, prompt_file }) {
    const argv: LaunchArgument[] = [agent.cli, ...agent.args, ...EVERY_START, '-C', project_dir];
    argv.push(...option('-m', agent.model));
    if (effort !== null) argv.push('-c', `model_reasoning_effort=${JSON.stringify(effort)}`);
    if (resume !== null) argv.push('resume', resume);
    argv.push(agent.prompt === 'argument' ? PROMPT : pointerTo(prompt_file));
    return { argv, session_uuid: resume };
  },

  resumeArgv: ({ cli, args, model }, session) => [
    ...[cli, ...args, ...EVERY_START],
    ...[...option('-m', model), 'resume', session],
  ],

  checkFirstRun,
  signIn,

  transcripts: {
    find: (query, { folder }) =>
      query.session_uuid === null
        ? learnTranscript(folder, query)
        : findTranscript(folder, query.session_uuid),
    findSession: (_agent, session, { folder }) => findSession(folder, session),
  },
  records,
  messages: messageInput,

  setup: { target: setupTarget, compareHooks: hooks.compare },
};
