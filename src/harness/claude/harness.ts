import { join } from 'node:path';
import { type LaunchArgument, PROMPT } from '../adapter.ts';
import { folderNamed } from '../agent-environment.ts';
import type { Harness } from '../harness.ts';
import { settingsHooks } from '../hooks/settings-hooks.ts';
import { option } from '../option-value.ts';
import { ownTable } from '../own-config.ts';
import { findBridgeUrl } from './bridge-url.ts';
import { checkFirstRun, signIn } from './first-run.ts';
import { messageInput } from './message-input.ts';
import { records } from './records.ts';
import { findTranscript, searchProjects } from './transcript.ts';

/**
 * Added to every start: these commands need no approval in any permission mode, so that a run can always end itself, and
 * can read and answer messages while nobody looks.
 */
const WORKER_COMMANDS = [
  '--allowedTools',
  ...['handoff', 'fiber', 'send', 'peers', 'inbox'].map((verb) => `Bash(svc ${verb}:*)`),
];
/**
 * Arming a fiber starts a worker, so only a session that must file its own fiber may do it without approval; the
 * capture reference is the only page of the worker skills that uses these commands. The worker of a fiber and a resumed
 * capture have a fiber already; a session that a person started has the permissions that the person gave it.
 */
const CAPTURE_COMMANDS = ['Bash(svc claim:*)', 'Bash(svc install:*)'];

const FOLDER = 'CLAUDE_CONFIG_DIR';

const SETTINGS = 'settings.json';
const EVENTS = [
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
];

const hooks = settingsHooks('claude', SETTINGS, EVENTS, async (folder) => {
  const file = join(folder, SETTINGS);
  return (await ownTable(file)).disableAllHooks === true ? `"disableAllHooks" in ${file}` : null;
});

/**
 * Claude Code: the caller chooses the session id, and a session can be resumed only in the folder where it began. It
 * reads its first message from standard input if that is not a terminal, and then the keyboard from `/dev/tty`.
 */
export const claude: Harness = {
  name: 'claude',
  title: 'Claude Code',
  install: 'npm install -g @anthropic-ai/claude-code',
  // In the mode `auto` it judges each command itself; this needs no accepted warning and also works for root.
  defaults: {
    cli: 'claude',
    args: ['--permission-mode', 'auto'],
    effort_levels: ['low', 'medium', 'high', 'xhigh', 'max'],
  },
  session_id: 'chosen',
  session_variable: 'CLAUDE_CODE_SESSION_ID',
  folder_variable: FOLDER,
  folder: (environment) => folderNamed(environment, FOLDER, '.claude'),
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
  signIn,

  transcripts: {
    find: (query, { folder }) => findTranscript(folder, query),
    findSession: (_agent, session, { folder }) => searchProjects()(folder, session),
    searchMany() {
      const search = searchProjects();
      return async (_agent, session, { folder }) => search(folder, session);
    },
    agentsFolder: (path) => path.replace(/(\.jsonl)?$/, '/subagents'),
    findLink: findBridgeUrl,
  },
  records,
  messages: messageInput,

  setup: {
    target: () => ({ shared: [hooks.file()] }),
    compareHooks: hooks.compare,
  },
};
