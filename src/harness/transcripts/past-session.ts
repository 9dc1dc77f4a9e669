import { join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import type { Agent } from '../../contract/agent.ts';
import { agentEnvironment } from '../agent-environment.ts';
import { findCodexTranscript } from '../codex/transcript.ts';
import { optionValue } from '../option-value.ts';
import { readJsonConfig } from '../own-config.ts';
import { asTable } from '../table.ts';
import { filesIn, headLines, namesIn, probeFile } from './transcript-files.ts';

/** `cwd`: the folder the session began in, as its transcript records it; null where it records none. */
export type PastSession =
  | { kind: 'found'; path: string; cwd: string | null }
  | { kind: 'missing' }
  | { kind: 'unknown'; detail: string };

/** Records at the head of a transcript that are looked at for a working directory. */
const MOST_RECORDS = 200;

/** Finds the transcript of a session by its id alone, whatever project it belongs to. */
export async function findPastSession(
  agent: Agent,
  session: string,
  env: NodeJS.ProcessEnv,
): Promise<PastSession> {
  try {
    const path = await findTranscriptPath(agent, session, env);
    return path === null ? { kind: 'missing' } : { kind: 'found', path, cwd: await recordedFolder(path) };
  } catch (error) {
    return { kind: 'unknown', detail: messageOf(error) };
  }
}

/** Where the transcript of a session lies; null where there is none. Throws what the disk says when it refuses. */
export async function findTranscriptPath(
  agent: Agent,
  session: string,
  env: NodeJS.ProcessEnv,
): Promise<string | null> {
  const environment = agentEnvironment(agent, env);
  if (agent.harness === 'codex') {
    const probe = await findCodexTranscript(environment.codex_home, session);
    if (probe.kind === 'unknown') throw new Error(probe.detail);
    return probe.kind === 'found' ? probe.path : null;
  }
  if (agent.harness === 'claude') {
    const projects = join(environment.claude_dir, 'projects');
    for (const folder of await namesIn(projects)) {
      const probe = await probeFile(join(projects, folder, `${session}.jsonl`), session).catch(notAFolder);
      if (probe.kind === 'found') return probe.path;
    }
    return null;
  }
  const chosen =
    optionValue(agent.args, '--session-dir') ??
    environment.get('PI_CODING_AGENT_SESSION_DIR') ??
    (await ownSessionDir(environment.pi_agent_dir));
  const sessions = join(environment.pi_agent_dir, 'sessions');
  const folders =
    chosen === undefined
      ? (await namesIn(sessions)).map((name) => join(sessions, name))
      : [chosen.replace(/^~(?=\/|$)/, environment.home)];
  for (const folder of folders) {
    const [path] = await filesIn(folder, (name) => name.endsWith(`_${session}.jsonl`)).catch(() => []);
    if (path !== undefined) return path;
  }
  return null;
}

/** The folder that Pi's own settings name for all projects; undefined where they name none, or one in each project. */
async function ownSessionDir(pi_agent_dir: string): Promise<string | undefined> {
  const { sessionDir } = (await readJsonConfig(join(pi_agent_dir, 'settings.json'))).value;
  return typeof sessionDir === 'string' && /^[~/]/.test(sessionDir) ? sessionDir : undefined;
}

/** A file beside the project folders is no project. */
function notAFolder(): { kind: 'missing' } {
  return { kind: 'missing' };
}

/** The first working directory that a record at the head names: where the session began. */
async function recordedFolder(path: string): Promise<string | null> {
  let records = 0;
  for await (const line of headLines(path)) {
    records += 1;
    if (records > MOST_RECORDS) return null;
    const record = parsed(line);
    for (const cwd of [record.cwd, asTable(record.payload).cwd])
      if (typeof cwd === 'string' && cwd !== '') return cwd;
  }
  return null;
}

function parsed(line: string): Record<string, unknown> {
  try {
    return asTable(JSON.parse(line));
  } catch {
    return {};
  }
}
