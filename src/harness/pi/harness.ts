import type { Agent } from '../../contract/agent.ts';
import { type LaunchArgument, PROMPT } from '../adapter.ts';
import type { Harness } from '../harness.ts';
import { hookArgv } from '../hooks/hook-command.ts';
import { optionValue } from '../option-value.ts';
import { compareExtension, PI_EXTENSION, piExtension } from './extension.ts';
import { checkFirstRun } from './first-run.ts';
import { piFolder } from './folder.ts';
import { records } from './records.ts';
import { findSession, findTranscript, learnTranscript, SESSION_DIR } from './transcript.ts';

/** Pi: the caller chooses the session id, except in versions that cannot; then it is learned. */
export const pi: Harness = {
  name: 'pi',
  title: 'Pi',
  install: 'npm install -g @earendil-works/pi-coding-agent',
  // It has no permission system; the folder's own extensions are not loaded unless they were trusted before.
  defaults: {
    cli: 'pi',
    args: [],
    effort_levels: ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  },
  session_id: { probe: { args: ['--help'], env: { PI_OFFLINE: '1' }, option: '--session-id' } },
  session_variable: null,
  folder: piFolder,
  account: {
    variables: [],
    // It reaches many providers: each has limits of its own.
    ofAgent: ({ args, model }) => [optionValue(args, '--provider') ?? model?.split('/')[0] ?? ''],
  },

  planLaunch({ agent, effort, resume, session_uuid, session_name, prompt_file }, chooses_session_id) {
    const argv: LaunchArgument[] = [agent.cli, ...agent.args];
    if (resume !== null) argv.push('--session', resume);
    else if (chooses_session_id) argv.push('--session-id', session_uuid, '--name', session_name);
    argv.push(...model(agent));
    if (effort !== null) argv.push('--thinking', effort);
    argv.push(agent.prompt === 'argument' ? PROMPT : `@${prompt_file}`);
    const known = resume ?? (chooses_session_id ? session_uuid : null);
    return { argv, prompt_on_stdin: false, env: { ...agent.env }, session_uuid: known, files: [] };
  },

  resumeArgv: (agent, session_uuid) => [agent.cli, ...agent.args, ...model(agent), '--session', session_uuid],

  checkFirstRun,

  transcripts: {
    find: (query, environment) =>
      query.session_uuid === null
        ? learnTranscript(environment, query)
        : findTranscript(environment, query, query.session_uuid),
    findSession,
    place: ({ args }, environment) =>
      JSON.stringify([piFolder(environment), environment.get(SESSION_DIR), args]),
  },
  records,

  setup: {
    target: () =>
      Promise.resolve({
        files: new Map([[`extensions/${PI_EXTENSION}`, piExtension(hookArgv('pi'))]]),
        shared: [],
        lacks: null,
      }),
    compareHooks: compareExtension,
  },
};

function model(agent: Agent): string[] {
  return agent.model === null ? [] : ['--model', agent.model];
}
