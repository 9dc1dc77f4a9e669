import { isCoded, messageOf } from '../../base/errors.ts';
import type {
  AppMessage,
  AppMessageOutcome,
  AppMessageQuery,
  AppMessageStage,
} from '../../contract/threads/app-message.ts';
import { AppServerRefusal } from '../../harness/app-server/connection.ts';
import { isAppRun } from '../run/app-run.ts';
import type { AppSurfaceRun } from '../run/run.ts';
import type { Runs } from '../run/runs.ts';
import { requireAppServer } from '../surfaces/app/app-preflight.ts';
import { settingsOf } from '../surfaces/app/app-start.ts';
import type { World } from '../world/world.ts';

/**
 * Gives a message to the conversation of a worker as its next turn; a running turn takes it in. The app server does not
 * recognise a repeated message, so the caller gives each one once.
 */
export async function giveAppMessage(
  world: World,
  runs: Pick<Runs, 'all'>,
  { thread_id, message_id, text }: AppMessage,
): Promise<AppMessageOutcome> {
  const find = () =>
    runs
      .all()
      .filter(isAppRun)
      .find((run) => run.app.thread_id === thread_id);
  const run = find();
  if (run === undefined) return { kind: 'gone' };
  try {
    const loaded = await load(world, run, thread_id);
    // It may have been killed or handed off meanwhile.
    if (!loaded || find() !== run) return { kind: 'gone' };
  } catch (error) {
    return refusedBy(error) ?? { kind: 'not_given', detail: messageOf(error) };
  }
  try {
    await requireAppServer(world).send(thread_id, { id: message_id, text, effort: null });
    return { kind: 'given' };
  } catch (error) {
    const unsent = isCoded(error, 'app_server_unavailable') && error.details.sent === false;
    return refusedBy(error) ?? { kind: unsent ? 'not_given' : 'unknown', detail: messageOf(error) };
  }
}

/** What the conversation shows of the message now; throws `app_server_unavailable`. */
export async function appMessageStage(
  world: Pick<World, 'app'>,
  { thread_id, message_id }: AppMessageQuery,
): Promise<AppMessageStage> {
  return requireAppServer(world).messageStage(thread_id, message_id);
}

/** False for a conversation that the app server does not have. */
async function load(world: World, run: AppSurfaceRun, thread_id: string): Promise<boolean> {
  const server = requireAppServer(world);
  const look = await server.look(thread_id);
  if (look.kind === 'missing' || look.conversation.loaded) return look.kind === 'found';
  return (await server.load(thread_id, settingsOf(world, run))).kind === 'found';
}

function refusedBy(error: unknown): AppMessageOutcome | null {
  return error instanceof AppServerRefusal ? { kind: 'refused', detail: error.message } : null;
}
