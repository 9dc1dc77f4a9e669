import { CodedError, isCoded, messageOf } from '../../../base/errors.ts';
import type { Agent } from '../../../contract/agent.ts';
import { APP_HARNESS } from '../../../contract/harness-name.ts';
import type { AppServer } from '../../../harness/app-server/app-server.ts';
import type { Refusal } from '../../holds/refusals.ts';
import type { Conversation } from '../../plan/conversation.ts';
import { appRunOf } from '../../run/app-run.ts';
import type { AppRun } from '../../run/run.ts';
import type { World } from '../../world/world.ts';

/** Refuses an app start that its agent or the host's app server cannot serve; changes no surface (CAP-7). */
export async function refuseByAppServer(
  world: World,
  { id }: { id: string },
  agent: Agent,
): Promise<Refusal | null> {
  if (agent.harness !== APP_HARNESS)
    return {
      reason: 'surface_unsupported',
      message: `agent ${agent.id} of ${id} has no app conversations; choose a ${APP_HARNESS} agent, or set the surface to cli`,
    };
  return refuseWithoutServer(world);
}

/** Refuses what the host's app server does not serve now (ERR-24). */
export async function refuseWithoutServer(world: World): Promise<Refusal | null> {
  try {
    await requireAppServer(world).reachable();
    return null;
  } catch (error) {
    if (!isCoded(error)) throw error;
    return { reason: error.code, message: messageOf(error) };
  }
}

/** What a planned run knows of its conversation before anything was asked. */
export function planAppRun(checked: { effort: string | null; conversation: Conversation }): AppRun {
  const { effort, conversation } = checked;
  const thread_id = conversation.kind === 'resume' ? conversation.session_uuid : null;
  return appRunOf({
    thread_id,
    transcript_session_uuid: null,
    project_id: null,
    turn: 'none',
    resumed: thread_id !== null,
    effort,
  });
}

/** The app server of this host; throws `app_server_unavailable` with what a person can do instead (CAP-7). */
export function requireAppServer(world: Pick<World, 'app'>): AppServer {
  if (world.app !== null) return world.app;
  throw new CodedError(
    'app_server_unavailable',
    'this daemon knows no app server: set SVC_APP_SERVER to the one that runs here, choose a configured remote host, or set svc.surface to cli',
    { details: { sent: false } },
  );
}
