import { messageOf } from '../../base/errors.ts';
import type { Agent } from '../../contract/agent.ts';
import type { TranscriptRecords } from '../harness.ts';
import { HARNESSES, harnessEnvironment } from '../harnesses.ts';
import { asTable } from '../table.ts';
import { headLines } from './transcript-files.ts';

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
    const { transcripts, records } = HARNESSES[agent.harness];
    const path = await transcripts.findSession(agent, session, harnessEnvironment(agent, env));
    if (path === null) return { kind: 'missing' };
    return { kind: 'found', path, cwd: await recordedFolder(path, records.folderOf) };
  } catch (error) {
    return { kind: 'unknown', detail: messageOf(error) };
  }
}

/** The first working directory that a record at the head names: where the session began. */
async function recordedFolder(path: string, folderOf: TranscriptRecords['folderOf']): Promise<string | null> {
  let records = 0;
  for await (const line of headLines(path)) {
    records += 1;
    if (records > MOST_RECORDS) return null;
    const cwd = folderOf(parsed(line));
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
