import { join, resolve } from 'node:path';
import type { TranscriptProbe, TranscriptQuery } from '../adapter.ts';
import type { AgentEnvironment } from '../agent-environment.ts';
import { optionValue } from '../option-value.ts';
import { readJsonConfig } from '../own-config.ts';
import { asTable } from '../table.ts';
import { filesIn, findByMarker, probeFile, spellingsOf } from '../transcripts/transcript-files.ts';

/** Finds the file of a known session: `<time>_<id>.jsonl` in the folder of its working directory. */
export async function findPiTranscript(
  environment: AgentEnvironment,
  query: TranscriptQuery,
  session_uuid: string,
): Promise<TranscriptProbe> {
  for (const folder of await sessionFolders(environment, query)) {
    const [path] = await filesIn(folder, (name) => name.endsWith(`_${session_uuid}.jsonl`));
    if (path !== undefined) return probeFile(path, session_uuid);
  }
  return { kind: 'missing' };
}

/** Finds the file of a launch whose id is not known: its folder, and a user message with the marker. */
export async function learnPiTranscript(
  environment: AgentEnvironment,
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

async function sessionFolders(environment: AgentEnvironment, query: TranscriptQuery): Promise<string[]> {
  const { agent, project_dir } = query;
  const chosen =
    optionValue(agent.args, '--session-dir') ??
    environment.get('PI_CODING_AGENT_SESSION_DIR') ??
    (await configuredSessionDir(environment, project_dir));
  if (chosen !== undefined) return [resolve(project_dir, chosen.replace(/^~(?=\/|$)/, environment.home))];
  const cwds = await spellingsOf(project_dir);
  return cwds.map((cwd) => join(environment.pi_agent_dir, 'sessions', piSessionFolder(cwd)));
}

async function configuredSessionDir(
  { pi_agent_dir }: AgentEnvironment,
  project_dir: string,
): Promise<string | undefined> {
  for (const file of [join(project_dir, '.pi', 'settings.json'), join(pi_agent_dir, 'settings.json')]) {
    const { sessionDir } = (await readJsonConfig(file)).value;
    if (typeof sessionDir === 'string' && sessionDir !== '') return sessionDir;
  }
  return undefined;
}

/** The name of a working folder below `sessions/`. */
export function piSessionFolder(cwd: string): string {
  return `--${cwd.replace(/^[/\\]/, '').replace(/[/\\:]/g, '-')}--`;
}
