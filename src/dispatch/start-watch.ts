import type { Run } from './runs.ts';
import type { World } from './world.ts';

/**
 * Looks whether a started worker's transcript is there. A harness that assigns its own session id is learned
 * here: the document and the ledger then name the real one. Answers what was found.
 */
export async function confirmStart(world: World, run: Run): Promise<'confirmed' | 'not_yet'> {
  const probe = await world.harness.adapter(run.harness).findTranscript({
    agent: world.harness.agent(run.agent),
    project_dir: run.project_dir,
    session_uuid: run.session_uuid,
    marker: run.launch_id,
    launched_at: run.started_at,
  });
  if (probe.kind !== 'found') return 'not_yet';
  run.transcript_path = probe.path;
  run.last_activity_at = Math.max(run.last_activity_at ?? 0, Math.floor(probe.mtime_ms));
  if (run.session_uuid !== probe.session_uuid) await learnSession(world, run, probe.session_uuid);
  run.confirmed = true;
  return 'confirmed';
}

async function learnSession(world: World, run: Run, session_uuid: string): Promise<void> {
  run.session_uuid = session_uuid;
  world.launches.update(run.launch_id, { session_uuid });
  world.recordSession({
    fiber: run.fiber_id,
    uid: run.uid,
    session: session_uuid,
    thread_id: null,
    harness: run.harness,
    host: world.host,
    mux: run.mux_session,
    at: world.clock.now(),
    kind: 'learned',
    run_id: run.run_id,
  });
  const document = world.documents.byUid(run.uid);
  if (document === undefined) return;
  await world.documents.change(document, (current) =>
    current.svc?.runtime?.run_id === run.run_id
      ? { set: { 'svc.runtime.session_uuid': session_uuid }, unset: [] }
      : { set: {}, unset: [] },
  );
}
