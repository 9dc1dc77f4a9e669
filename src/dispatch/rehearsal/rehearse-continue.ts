import { messageOf } from '../../base/errors.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import { type Rehearsal, rehearsal } from '../../contract/http/rehearsal.ts';
import { appLaunchFailed, continueText, missing, nameOf } from '../app/app-launch.ts';
import { NEW_CONVERSATION, sourceOf } from '../app/app-run.ts';
import { requireAppServer } from '../app/require-app-server.ts';
import type { Refusal } from '../refusals.ts';
import type { AppSurfaceRun } from '../run/run.ts';
import type { World } from '../world.ts';

/**
 * What `continueAppRun` would do now with a reserved conversation (CAP-8): the server is asked what it knows, and
 * nothing is opened, sent or written.
 */
export async function rehearseContinue(
  world: World,
  document: FiberDocument,
  run: AppSurfaceRun,
  user_message: string | null,
): Promise<Rehearsal | { kind: 'refused'; refusal: Refusal }> {
  const refuse = (detail: string) => ({ kind: 'refused' as const, refusal: appLaunchFailed(run, detail) });
  const prompt = world.launches.readPrompt(run.launch_id);
  if (prompt === null) return refuse('its prompt can no longer be read from its run directory');
  try {
    const thread_id = await existing(world, run);
    const begun =
      thread_id !== null &&
      run.app.turn === 'asked' &&
      (await requireAppServer(world).hasMessage(thread_id, run.launch_id));
    const { path, diff } = await world.documents.rehearse(document, (current) =>
      begun ? { set: {}, unset: [] } : nameOf(current, run, thread_id ?? NEW_CONVERSATION),
    );
    const of = `${run.agent} for ${run.fiber_id} in ${run.project_dir}`;
    return rehearsal(
      thread_id === null
        ? `start a conversation of ${of}`
        : `go on with the conversation ${thread_id} of ${of}`,
      {
        documents: diff === '' ? [] : [{ path, diff }],
        prompt: begun ? user_message : continueText(prompt, user_message),
        minted: thread_id === null ? { session_uuid: NEW_CONVERSATION } : {},
      },
    );
  } catch (error) {
    return refuse(messageOf(error));
  }
}

/** The conversation that is there; null where a new one would be begun. Throws `conversation_missing`. */
async function existing(world: World, run: AppSurfaceRun): Promise<string | null> {
  const server = requireAppServer(world);
  const { thread_id, resumed } = run.app;
  if (thread_id === null) return (await server.find(sourceOf(run.launch_id)))?.thread_id ?? null;
  if ((await server.look(thread_id)).kind === 'found') return thread_id;
  if (resumed) throw missing(run.fiber_id, thread_id);
  return null;
}
