import { join, resolve } from 'node:path';
import { type CodedError, isCoded } from '../../base/errors.ts';
import type { Agent } from '../../contract/agent.ts';
import type { TranscriptProbe, TranscriptQuery } from '../adapter.ts';
import { expandHome, type HarnessEnvironment } from '../agent-environment.ts';
import { optionValue } from '../option-value.ts';
import { readJsonConfig } from '../own-config.ts';
import { asTable } from '../table.ts';
import { filesIn, findByMarker, namesIn, probeFile, spellingsOf } from '../transcripts/transcript-files.ts';

/** The variable that sets one folder for all sessions. */
export const SESSION_DIR = 'PI_CODING_AGENT_SESSION_DIR';

/** Finds the file of a known session: `<time>_<id>.jsonl` in the folder of its working directory. */
export async function findTranscript(
  environment: HarnessEnvironment,
  query: TranscriptQuery,
  session_uuid: string,
): Promise<TranscriptProbe> {
  for (const folder of await sessionFolders(environment, query)) {
    const [path] = await filesIn(folder, (name) => name.endsWith(`_${session_uuid}.jsonl`));
    if (path !== undefined) return probeFile(path, session_uuid);
  }
  return { kind: 'missing' };
}

/** Finds the file of a launch with an unknown id, by its folder and a user message that contains the marker. */
export async function learnTranscript(
  environment: HarnessEnvironment,
  query: TranscriptQuery,
): Promise<TranscriptProbe> {
  const cwds = await spellingsOf(query.project_dir);
  const files: string[] = [];
  for (const folder of await sessionFolders(environment, query)) {
    files.push(...(await filesIn(folder, (name) => name.endsWith('.jsonl'))));
  }
  return findByMarker({
    files,
    marker: query.marker,
    launched_at: query.launched_at,
    sessionOf(first) {
      const own = first.type === 'session' && typeof first.cwd === 'string' && cwds.includes(first.cwd);
      return own && typeof first.id === 'string' && first.parentSession === undefined ? first.id : null;
    },
    isUserRecord: (record) => record.type === 'message' && asTable(record.message).role === 'user',
  });
}

async function sessionFolders(environment: HarnessEnvironment, query: TranscriptQuery): Promise<string[]> {
  const { agent, project_dir } = query;
  const chosen =
    optionValue(agent.args, '--session-dir') ??
    environment.get(SESSION_DIR) ??
    (await configuredSessionDir(environment.folder, project_dir));
  if (chosen !== undefined) return [resolve(project_dir, expandHome(chosen, environment))];
  const cwds = await spellingsOf(project_dir);
  return cwds.map((cwd) => join(environment.folder, 'sessions', piSessionFolder(cwd)));
}

async function configuredSessionDir(pi_agent_dir: string, project_dir: string): Promise<string | undefined> {
  for (const file of [join(project_dir, '.pi', 'settings.json'), join(pi_agent_dir, 'settings.json')]) {
    const { sessionDir } = (await readJsonConfig(file)).value;
    if (typeof sessionDir === 'string' && sessionDir !== '') return sessionDir;
  }
  return undefined;
}

/** The name of a working folder below `sessions/`. */
function piSessionFolder(cwd: string): string {
  return `--${cwd.replace(/^[/\\]/, '').replace(/[/\\:]/g, '-')}--`;
}

/**
 * Path of the file of a session in the folder of any project; null if there is none. Throws `file_unavailable` where it may be
 * on a disk that does not answer.
 */
export async function findSession(
  agent: Agent,
  session: string,
  environment: HarnessEnvironment,
): Promise<string | null> {
  const chosen =
    optionValue(agent.args, '--session-dir') ??
    environment.get(SESSION_DIR) ??
    (await ownSessionDir(environment.folder));
  const sessions = join(environment.folder, 'sessions');
  const folders =
    chosen === undefined
      ? (await namesIn(sessions)).map((name) => join(sessions, name))
      : [expandHome(chosen, environment)];
  const silent: CodedError[] = [];
  for (const folder of folders) {
    const files = filesIn(folder, (name) => name.endsWith(`_${session}.jsonl`));
    const [path] = await files.catch((error: unknown) => {
      if (isCoded(error, 'file_unavailable')) silent.push(error);
      return [];
    });
    if (path !== undefined) return path;
  }
  if (silent[0] !== undefined) throw silent[0];
  return null;
}

/** The session folder that Pi's own settings set for all projects; undefined if they set none or a relative one. */
async function ownSessionDir(pi_agent_dir: string): Promise<string | undefined> {
  const { sessionDir } = (await readJsonConfig(join(pi_agent_dir, 'settings.json'))).value;
  return typeof sessionDir === 'string' && /^[~/]/.test(sessionDir) ? sessionDir : undefined;
}
