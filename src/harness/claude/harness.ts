import { type LaunchArgument, PROMPT } from '../adapter.ts';
import { folderNamed } from '../agent-environment.ts';
import type { Harness } from '../harness.ts';
import { settingsHooks } from '../hooks/settings-hooks.ts';
import { option } from '../option-value.ts';
import { findBridgeUrl } from './bridge-url.ts';
import { checkFirstRun } from './first-run.ts';
import { records } from './records.ts';
import { findSession, findTranscript, searchProjects } from './transcript.ts';

/**
 * Given to every start: what the worker skills tell a worker to run is never asked about, in whatever mode, so
 * that a run can end by itself even where a person or a judging model would have to be waited for.
 */
const WORKER_COMMANDS = ['--allowedTools', 'Bash(svc handoff:*)', 'Bash(svc fiber:*)'];
/**
 * Arming a fiber starts a worker, so only a session that has to file its own may do it unasked: the capture reference
 * is the one page of the worker skills that tells to run these. A worker of a fiber is claimed and installed already,
 * and so is a capture that is resumed; a session that a person started has the permissions that the person gave it.
 */
const CAPTURE_COMMANDS = ['Bash(svc claim:*)', 'Bash(svc install:*)'];

const hooks = settingsHooks('claude', 'settings.json', [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PermissionRequest',
  'Stop',
  'StopFailure',
  'SubagentStop',
  'Notification',
  'SessionEnd',
]);

/**
 * Claude Code: the caller chooses the session id, and a session continues only in the folder it began in. It reads
 * its first message from a standard input that is no terminal, and the keyboard from `/dev/tty` then.
 */
export const claude: Harness = {
  name: 'claude',
  title: 'Claude Code',
  install: 'npm install -g @anthropic-ai/claude-code',
  // In the mode `auto` it judges each command itself; that needs no accepted warning and also runs as root.
  defaults: {
    cli: 'claude',
    args: ['--permission-mode', 'auto'],
    effort_levels: ['low', 'medium', 'high', 'xhigh', 'max'],
  },
  session_id: 'chosen',
  session_variable: 'CLAUDE_CODE_SESSION_ID',
  folder: (environment) => folderNamed(environment, 'CLAUDE_CONFIG_DIR', '.claude'),
  account: {
    variables: [
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_AUTH_TOKEN',
      'ANTHROPIC_BASE_URL',
      'CLAUDE_CODE_OAUTH_TOKEN',
      'CLAUDE_CODE_USE_BEDROCK',
      'CLAUDE_CODE_USE_VERTEX',
    ],
  },

  planLaunch(request) {
    const { agent, effort, resume, session_uuid } = request;
    const argv: LaunchArgument[] = [agent.cli, ...agent.args, ...WORKER_COMMANDS];
    if (request.capture === true) argv.push(...CAPTURE_COMMANDS);
    if (resume === null) argv.push('--session-id', session_uuid);
    else argv.push('--resume', resume);
    argv.push('--name', request.session_name);
    argv.push(...option('--model', agent.model), ...option('--effort', effort));
    const prompt_on_stdin = agent.prompt !== 'argument';
    if (!prompt_on_stdin) argv.push(PROMPT);
    return { argv, prompt_on_stdin, session_uuid: resume ?? session_uuid };
  },

  resumeArgv: ({ cli, args, model }, session) => [
    cli,
    ...args,
    ...option('--model', model),
    '--resume',
    session,
  ],

  checkFirstRun,

  transcripts: {
    find: (query, { folder }) => findTranscript(folder, query),
    findSession: (_agent, session, { folder }) => findSession(folder, session),
    searchMany() {
      const search = searchProjects();
      return async (_agent, session, { folder }) => search(folder, session);
    },
    agentsFolder: (path) => path.replace(/(\.jsonl)?$/, '/subagents'),
    findLink: findBridgeUrl,
  },
  records,

  setup: {
    target: () => ({ shared: [hooks.file()] }),
    compareHooks: hooks.compare,
  },
};
