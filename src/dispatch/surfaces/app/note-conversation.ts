import { type AppConversation, desktopLink } from '../../../harness/app-server/conversation.ts';
import { recordOf } from '../../run/app-run.ts';
import type { AppSurfaceRun } from '../../run/run.ts';
import { recordLearned } from '../../run/run-ledger.ts';
import { isStarted } from '../../run/run-state.ts';
import type { World } from '../../world/world.ts';

/** Takes over what the server tells of a conversation; the run directory is told when an identity is new. */
export function noteConversation(world: World, run: AppSurfaceRun, seen: AppConversation): void {
  const { app } = run;
  const { thread_id, transcript_session_uuid, project_id, phase } = seen;
  const known =
    app.thread_id === thread_id &&
    app.transcript_session_uuid === transcript_session_uuid &&
    app.project_id === project_id;
  Object.assign(app, {
    thread_id,
    transcript_session_uuid,
    project_id,
    phase,
    missing: false,
    desktop_link: desktopLink(world.settings.app_scheme, thread_id),
  });
  run.session_uuid = thread_id;
  run.last_activity_at = Math.max(run.last_activity_at ?? 0, seen.updated_at);
  if (known) return;
  world.runDirectories.update(run.launch_id, { session_uuid: thread_id, app: recordOf(app) });
  // A start has its ledger line when it is confirmed; a later identity has one of its own (WRK-8).
  if (isStarted(run.state)) recordLearned(world, run);
}
