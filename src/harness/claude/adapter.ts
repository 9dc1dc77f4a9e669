import { join } from 'node:path';
import type { Agent } from '../../contract/agent.ts';
import { type HarnessAdapter, type LaunchArgument, PROMPT, type TranscriptProbe } from '../adapter.ts';
import { agentEnvironment } from '../agent-environment.ts';
import { namesIn, probeFile, probing, spellingsOf } from '../transcripts/transcript-files.ts';
import { checkClaudeFirstRun } from './first-run.ts';

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

/**
 * Claude Code: the caller chooses the session id, and a session continues only in the folder it began in. It reads
 * its first message from a standard input that is no terminal, and the keyboard from `/dev/tty` then.
 */
export function claudeAdapter(options: { env: NodeJS.ProcessEnv; uid: number | null }): HarnessAdapter {
  return {
    name: 'claude',

    planLaunch(request) {
      const { agent, effort, resume, session_uuid } = request;
      const argv: LaunchArgument[] = [agent.cli, ...agent.args, ...WORKER_COMMANDS];
      if (request.capture === true) argv.push(...CAPTURE_COMMANDS);
      if (resume === null) argv.push('--session-id', session_uuid);
      else argv.push('--resume', resume);
      argv.push('--name', request.session_name);
      if (agent.model !== null) argv.push('--model', agent.model);
      if (effort !== null) argv.push('--effort', effort);
      const prompt_on_stdin = agent.prompt !== 'argument';
      if (!prompt_on_stdin) argv.push(PROMPT);
      return {
        argv,
        prompt_on_stdin,
        env: { ...agent.env },
        session_uuid: resume ?? session_uuid,
        files: [],
      };
    },

    findTranscript({ agent, project_dir, session_uuid }) {
      if (session_uuid === null) return Promise.resolve({ kind: 'missing' });
      const { claude_dir } = agentEnvironment(agent, options.env);
      return probing(() => findClaudeTranscript(join(claude_dir, 'projects'), project_dir, session_uuid));
    },

    resumeArgv: (agent, session_uuid) => [...command(agent), '--resume', session_uuid],

    checkFirstRun: (query) => checkClaudeFirstRun(query, options),
  };
}

function command(agent: Agent): string[] {
  const model = agent.model === null ? [] : ['--model', agent.model];
  return [agent.cli, ...agent.args, ...model];
}

/** Longer folder names are cut there and end in a hash of the whole. */
const MOST_NAME_LENGTH = 200;

async function findClaudeTranscript(
  projects: string,
  project_dir: string,
  session_uuid: string,
): Promise<TranscriptProbe> {
  for (const cwd of await spellingsOf(project_dir)) {
    const name = claudeProjectFolder(cwd);
    const folders = name.length > MOST_NAME_LENGTH ? await namesStarting(projects, name) : [name];
    for (const folder of folders) {
      const probe = await probeFile(join(projects, folder, `${session_uuid}.jsonl`), session_uuid);
      if (probe.kind !== 'missing') return probe;
    }
  }
  return { kind: 'missing' };
}

/** The name of a working folder below `projects/`: every character but letters and digits becomes a hyphen. */
export function claudeProjectFolder(cwd: string): string {
  return cwd.replace(/[^a-zA-Z0-9]/g, '-');
}

async function namesStarting(projects: string, name: string): Promise<string[]> {
  const start = name.slice(0, MOST_NAME_LENGTH);
  return (await namesIn(projects)).filter((folder) => folder.startsWith(start));
}
