import { type LaunchArgument, PROMPT } from '../adapter.ts';
import { expandHome, folderNamed } from '../agent-environment.ts';
import type { Harness } from '../harness.ts';
import { hookArgv } from '../hooks/hook-command.ts';
import { option, optionValue } from '../option-value.ts';
import { compareExtension, PI_EXTENSION, piExtension } from './extension.ts';
import { checkFirstRun, signIn } from './first-run.ts';
import { messageInput } from './message-input.ts';
import { messageWay } from './message-socket.ts';
import { records } from './records.ts';
import { findSession, findTranscript, learnTranscript, SESSION_DIR } from './transcript.ts';

const FOLDER = 'PI_CODING_AGENT_DIR';

/** Pi: the caller chooses the session id, except in versions that assign one, which must then be learned. */
export const pi: Harness = {
  name: 'pi',
  title: 'Pi',
  install: 'npm install -g @earendil-works/pi-coding-agent',
  // It has no permission system; a folder's own extensions are loaded only if they were trusted before.
  defaults: {
    cli: 'pi',
    args: [],
    effort_levels: ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  },
  session_id: { probe: { args: ['--help'], env: { PI_OFFLINE: '1' }, option: '--session-id' } },
  session_variable: null,
  folder_variable: FOLDER,
  folder: (environment) => expandHome(folderNamed(environment, FOLDER, '.pi/agent'), environment),
  account: {
    variables: [],
    // It supports many providers, each with its own limits.
    ofAgent: ({ args, model }) => [optionValue(args, '--provider') ?? model?.split('/')[0] ?? ''],
  },

  planLaunch({ agent, effort, resume, session_uuid, session_name, prompt_file }, chooses_session_id) {
    const argv: LaunchArgument[] = [agent.cli, ...agent.args];
    if (resume !== null) argv.push('--session', resume);
    else if (chooses_session_id) argv.push('--session-id', session_uuid, '--name', session_name);
    argv.push(...option('--model', agent.model), ...option('--thinking', effort));
    argv.push(agent.prompt === 'argument' ? PROMPT : `@${prompt_file}`);
    return { argv, session_uuid: resume ?? (chooses_session_id ? session_uuid : null) };
  },

  resumeArgv: ({ cli, args, model }, session) => [
    cli,
    ...args,
    ...option('--model', model),
    '--session',
    session,
  ],

  checkFirstRun,
  signIn,

  transcripts: {
    find: (query, environment) =>
      query.session_uuid === null
        ? learnTranscript(environment, query)
        : findTranscript(environment, query, query.session_uuid),
    findSession,
    place: ({ args }, { folder, get }) => JSON.stringify([folder, get(SESSION_DIR), args]),
  },
  records,
  messages: messageInput,
  message_way: messageWay,

  setup: {
    target: () => ({ files: new Map([[`extensions/${PI_EXTENSION}`, piExtension(hookArgv('pi'))]]) }),
    compareHooks: compareExtension,
  },
};
