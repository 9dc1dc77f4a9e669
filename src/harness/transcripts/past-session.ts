import { messageOf } from '../../base/errors.ts';
import { jsonOf } from '../../base/json-text.ts';
import type { Agent } from '../../contract/agent.ts';
import type { TranscriptRecords } from '../harness.ts';
import { HARNESSES, harnessEnvironment } from '../harnesses.ts';
import { asTable } from '../table.ts';
import { headLines } from './transcript-files.ts';

/** `cwd`: the folder where the session began, from its transcript; null if that records none. */
export type PastSession =
  | { kind: 'found'; path: string; cwd: string | null }
  | { kind: 'missing' }
  | { kind: 'unknown'; detail: string };

/** How many records at the start of a transcript are searched for a working directory. */
const MOST_RECORDS = 200;

/** Finds the transcript of a session by its id, in any project. */
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

/** The first working directory in the first records: where the session began. */
async function recordedFolder(path: string, folderOf: TranscriptRecords['folderOf']): Promise<string | null> {
  let records = 0;
  for await (const line of headLines(path)) {
    records += 1;
    if (records > MOST_RECORDS) return null;
    const cwd = folderOf(asTable(jsonOf(line)));
    if (typeof cwd === 'string' && cwd !== '') return cwd;
  }
  return null;
}
