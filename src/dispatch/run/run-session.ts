import { messageOf } from '../../base/errors.ts';
import type { Agent } from '../../contract/agent.ts';
import type { HarnessName } from '../../contract/harness-name.ts';
import type { TranscriptProbe } from '../../harness/adapter.ts';
import { planLearnedSession } from '../../lifecycle/run-transitions.ts';
import type { ResumeRecord } from '../run-directory/run-records.ts';
import type { World } from '../world/world.ts';
import { firstSession, followSession } from './follow-session.ts';
import type { Run } from './run.ts';
import { recordLearned } from './run-ledger.ts';

/** The document, the run directory and the ledger then name the session that the run really is in. */
export async function learnSession(world: World, run: Run, session_uuid: string): Promise<void> {
  const { documents, runDirectories } = world;
  const document = documents.of(run);
  if (document !== undefined)
    await documents.change(
      document,
      (current) =>
        planLearnedSession(current, { run_id: run.run_id, session_uuid }) ?? { set: {}, unset: [] },
    );
  const left_sessions = [
    ...(run.left_sessions ?? []),
    ...(run.session_uuid === null ? [] : [run.session_uuid]),
  ];
  run.session_uuid = session_uuid;
  run.left_sessions = left_sessions;
  runDirectories.update(run.launch_id, {
    session_uuid,
    ...(left_sessions.length === 0 ? {} : { left_sessions }),
  });
  recordLearned(world, run);
}

/** Follows a run into the session that its hooks report (P7); what cannot be written now is tried again. */
export async function followHooks(world: World, run: Run): Promise<void> {
  const left = run.left_sessions ?? [];
  const { session_uuid: known, launch_id } = run;
  const starts = world.runDirectories.sessionStarts(launch_id);
  const session =
    known === null && run.claim === 'person'
      ? firstSession(starts, world.runDirectories.phaseSigns(launch_id))
      : followSession({ known, left }, starts);
  if (session === null || session === run.session_uuid) return;
  try {
    await learnSession(world, run, session);
  } catch (error) {
    world.logger.warn(
      { fiber: run.fiber_id, session, detail: messageOf(error) },
      'the document could not be told the session that its worker is in; it is tried again',
    );
  }
}

/** The transcript of a run's session, looked for now. */
export async function transcriptOfRun(world: World, run: Run): Promise<TranscriptProbe> {
  const { harness, session_uuid, launch_id, started_at } = run;
  try {
    return await probeTranscript(world, {
      harness,
      agent: world.harness.agent(run.agent),
      project_dir: run.project_dir,
      session_uuid,
      run: { launch_id, dispatched_at: started_at },
    });
  } catch (error) {
    // Its agent is no longer in the registry: nothing can be told.
    return { kind: 'unknown', detail: messageOf(error) };
  }
}

/** True when the run went on with an earlier conversation, and that has not grown since. */
export function isRunInVain({ resume, session_uuid }: Run, transcript: TranscriptProbe): boolean {
  return resume !== undefined && session_uuid === resume.session_uuid && isInVain(resume, transcript);
}

/** True when a resumed conversation has not grown since it was resumed; never on a guess (P7). */
export function isInVain(resume: ResumeRecord, transcript: TranscriptProbe): boolean {
  if (transcript.kind === 'unknown') return false;
  return transcript.kind === 'missing' || transcript.size <= (resume.size ?? 0);
}

/** Finds a transcript; an adapter that fails says as little as a disk that does not answer. */
export async function probeTranscript(
  world: Pick<World, 'harness'>,
  query: {
    harness: HarnessName;
    agent: Agent;
    project_dir: string;
    session_uuid: string | null;
    run: { launch_id: string; dispatched_at: number } | undefined;
  },
): Promise<TranscriptProbe> {
  const { harness, agent, project_dir, session_uuid, run } = query;
  if (session_uuid === null && run === undefined) return { kind: 'missing' };
  try {
    return await world.harness.adapter(harness).findTranscript({
      agent,
      project_dir,
      session_uuid,
      marker: run?.launch_id ?? '',
      launched_at: run?.dispatched_at ?? 0,
    });
  } catch (error) {
    return { kind: 'unknown', detail: messageOf(error) };
  }
}
