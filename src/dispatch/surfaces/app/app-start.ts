import { CodedError, isCoded, messageOf } from '../../../base/errors.ts';
import { shellWord } from '../../../base/shell-word.ts';
import type { FiberDocument } from '../../../contract/fiber.ts';
import { type Rehearsal, rehearsal } from '../../../contract/http/rehearsal.ts';
import { rehearsedDocuments } from '../../../fibers/rehearsed-write.ts';
import { agentPolicy } from '../../../harness/app-server/agent-policy.ts';
import type { AppServer, ConversationSettings } from '../../../harness/app-server/app-server.ts';
import type { AppConversation } from '../../../harness/app-server/conversation.ts';
import { desktopLink } from '../../../harness/app-server/conversation.ts';
import { abandonClaim, markStart } from '../../edits/start-markers.ts';
import type { Refusal } from '../../holds/refusals.ts';
import type { StartOutcome } from '../../plan/planned-run.ts';
import { NEW_CONVERSATION, recordOf, sourceOf } from '../../run/app-run.ts';
import { type AppSurfaceRun, runStarted } from '../../run/run.ts';
import type { Authority } from '../../run/run-id.ts';
import { recordDispatch, recordLearned } from '../../run/run-ledger.ts';
import { isStarted } from '../../run/run-state.ts';
import { manifestOfRun, workerVariables } from '../../run/runs.ts';
import type { DocumentChange } from '../../world/documents.ts';
import type { World } from '../../world/world.ts';
import { requireAppServer } from './app-preflight.ts';

/**
 * Starts a planned run as an app conversation: the claim on disk, the document's markers, the conversation, its
 * id on disk and in the document, the first turn, the ledger line. The caller holds the fiber's claim in memory.
 * After a kill of the daemon between any two steps the conversation is found again by the mark of its start or
 * by its id, so that the fiber never gets a second one.
 */
export async function startAppRun(
  world: World,
  document: FiberDocument,
  run: AppSurfaceRun,
  authority: Authority,
  options: { prompt: string; confirmed_dir: string | undefined },
): Promise<StartOutcome> {
  const { confirmed_dir, prompt } = options;
  world.runDirectories.claim({ manifest: manifestOfRun(run, document.leaf), prompt, files: [] });
  await markStart(world, document, run, authority, confirmed_dir);
  let conversation: AppConversation;
  try {
    conversation = await open(world, run);
  } catch (error) {
    if (mayHaveBegun(error) && !run.app.resumed) return reserved(run, messageOf(error));
    await abandonClaim(world, run);
    return { kind: 'refused', refusal: openRefusal(run, error) };
  }
  return begin(world, run, conversation, prompt);
}

/** Goes on with a reserved conversation where it stopped; never begins a second one while the first exists. */
export async function continueAppRun(world: World, run: AppSurfaceRun): Promise<StartOutcome> {
  try {
    const { prompt, conversation, begun } = await planContinue(world, run, async (server) => {
      const found = run.app.thread_id === null ? await server.find(sourceOf(run.launch_id)) : null;
      if (found !== null) noteConversation(world, run, found);
      return open(world, run);
    });
    if (!begun) return await begin(world, run, conversation, prompt);
    noteConversation(world, run, conversation);
    return confirm(world, run);
  } catch (error) {
    return reserved(run, messageOf(error));
  }
}

/** What `continueAppRun` would do now; opens, sends and writes nothing. */
export async function showContinue(
  world: World,
  document: FiberDocument,
  run: AppSurfaceRun,
): Promise<Rehearsal | { kind: 'refused'; refusal: Refusal }> {
  try {
    const { prompt, conversation, begun } = await planContinue(world, run, (server) => existing(server, run));
    const thread_id = conversation?.thread_id ?? null;
    const named = await world.documents.planChange(document, (current) =>
      begun ? { set: {}, unset: [] } : nameOf(current, run, thread_id ?? NEW_CONVERSATION),
    );
    const of = `${run.agent} for ${run.fiber_id} in ${run.project_dir}`;
    return rehearsal(
      thread_id === null
        ? `start a conversation of ${of}`
        : `go on with the conversation ${thread_id} of ${of}`,
      {
        documents: rehearsedDocuments(named),
        prompt: begun ? null : prompt,
        minted: thread_id === null ? { session_uuid: NEW_CONVERSATION } : {},
      },
    );
  } catch (error) {
    return { kind: 'refused', refusal: appLaunchFailed(run, messageOf(error)) };
  }
}

/**
 * The state of a reserved conversation: `begun` says that its first message arrived; otherwise `prompt` is sent.
 * `reach` returns the conversation, which the real start opens or begins.
 */
async function planContinue<C extends AppConversation | null>(
  world: World,
  run: AppSurfaceRun,
  reach: (server: AppServer) => Promise<C>,
): Promise<{ prompt: string; conversation: C; begun: boolean }> {
  const prompt = world.runDirectories.readPrompt(run.launch_id);
  if (prompt === null) throw new Error('its prompt can no longer be read from its run directory');
  const server = requireAppServer(world);
  const conversation = await reach(server);
  const begun =
    conversation !== null &&
    run.app.turn === 'asked' &&
    (await server.messageStage(conversation.thread_id, run.launch_id)) !== null;
  return { prompt, conversation, begun };
}

/** The conversation that is there; null where a new one would be begun. Throws `conversation_missing`. */
async function existing(server: AppServer, run: AppSurfaceRun): Promise<AppConversation | null> {
  const { thread_id, resumed } = run.app;
  if (thread_id === null) return server.find(sourceOf(run.launch_id));
  const look = await server.look(thread_id);
  if (look.kind === 'found') return look.conversation;
  if (resumed) throw missing(run.fiber_id, thread_id);
  return null;
}

/** The conversation of the run: its own one, opened, or a new one. */
async function open(world: World, run: AppSurfaceRun): Promise<AppConversation> {
  const server = requireAppServer(world);
  const settings = settingsOf(world, run);
  const { thread_id, resumed } = run.app;
  if (thread_id !== null) {
    const loaded = await server.load(thread_id, settings);
    if (loaded.kind === 'found') return loaded.conversation;
    // One in which nothing was ever said goes away with its server; there is nothing to go on with.
    if (resumed) throw missing(run.fiber_id, thread_id);
  }
  const source = sourceOf(run.launch_id);
  try {
    return await server.start(settings, source);
  } catch (error) {
    const found = mayHaveBegun(error) ? await server.find(source).catch(() => undefined) : undefined;
    if (found === null)
      throw new CodedError('app_server_unavailable', messageOf(error), { details: { sent: false } });
    if (found === undefined) throw error;
    return found;
  }
}

/** From an open conversation to its confirmed first turn. */
async function begin(
  world: World,
  run: AppSurfaceRun,
  conversation: AppConversation,
  text: string,
): Promise<StartOutcome> {
  const { thread_id } = conversation;
  noteConversation(world, run, conversation);
  const server = requireAppServer(world);
  try {
    await nameInDocument(world, run, thread_id);
    run.app.turn = 'asked';
    world.runDirectories.update(run.launch_id, { app: recordOf(run.app) });
    await server.send(thread_id, { id: run.launch_id, text, effort: run.app.effort });
  } catch (error) {
    const begun =
      mayHaveBegun(error) && (await server.messageStage(thread_id, run.launch_id).catch(() => null)) !== null;
    if (!begun) return reserved(run, messageOf(error));
  }
  return confirm(world, run);
}

/** The first turn is known to have begun: the run is one, on disk and in the ledger. */
export function confirm(world: World, run: AppSurfaceRun): StartOutcome {
  run.app.turn = 'confirmed';
  run.app.phase = 'working';
  recordDispatch(world, run);
  world.runDirectories.update(run.launch_id, { state: 'spawned', app: recordOf(run.app) });
  runStarted(run);
  return { kind: 'started', run };
}

/** Writes the conversation's id into the document; nothing when another run has begun since. */
async function nameInDocument(
  world: Pick<World, 'documents'>,
  run: AppSurfaceRun,
  thread_id: string,
): Promise<void> {
  const document = world.documents.of(run);
  if (document === undefined) return;
  const { thread_id: known, session_uuid } = document.svc?.runtime ?? {};
  if (known === thread_id && session_uuid === thread_id) return;
  await world.documents.change(document, (current) => nameOf(current, run, thread_id));
}

/** What names the conversation of this run in its document; nothing when it is named, or another run has begun since. */
function nameOf(current: FiberDocument, run: AppSurfaceRun, thread_id: string): DocumentChange {
  const { run_id, thread_id: known, session_uuid } = current.svc?.runtime ?? {};
  if (run_id !== run.run_id || (known === thread_id && session_uuid === thread_id))
    return { set: {}, unset: [] };
  return { set: namesOf(thread_id), unset: [] };
}

/** What a document says of its worker's conversation (WRK-3, WRK-4). */
export function namesOf(thread_id: string): DocumentChange['set'] {
  return { 'svc.runtime.session_uuid': thread_id, 'svc.runtime.thread_id': thread_id };
}

function reserved(run: AppSurfaceRun, detail: string): StartOutcome {
  return { kind: 'uncertain', refusal: appLaunchFailed(run, detail) };
}

/** CAP-8: the conversation stays the fiber's, and the next dispatch goes on with it. */
export function appLaunchFailed(run: AppSurfaceRun, detail: string): Refusal {
  const { thread_id } = run.app;
  const which = thread_id === null ? 'the app conversation' : `the app conversation ${thread_id}`;
  return {
    reason: 'app_launch_failed',
    message: `the first turn of ${which} of ${run.fiber_id} could not be confirmed (${detail}); it stays reserved: dispatch the fiber again to go on with it`,
    ...(thread_id === null ? {} : { thread_id }),
  };
}

function openRefusal(run: AppSurfaceRun, error: unknown): Refusal {
  if (isCoded(error)) return { reason: error.code, message: messageOf(error) };
  const { thread_id } = run.app;
  return {
    reason: 'app_launch_failed',
    message: `the app server refused the conversation of ${run.fiber_id}: ${messageOf(error)}`,
    ...(thread_id === null ? {} : { thread_id }),
  };
}

/** An existing conversation of which the server said that it does not exist (P15). */
export function missing(fiber_id: string, thread_id: string): CodedError {
  return new CodedError(
    'conversation_missing',
    `the app server knows no conversation ${thread_id} of ${fiber_id}; was it deleted, or is another server meant? Start again with \`svc dispatch ${shellWord(fiber_id)} --resume-mode fresh\``,
  );
}

function mayHaveBegun(error: unknown): boolean {
  return isCoded(error, 'app_server_unavailable') && error.details.sent === true;
}

/** How the conversation of a run is begun and loaded. */
export function settingsOf(
  world: Pick<World, 'harness' | 'runDirectories' | 'workerEnv'>,
  run: AppSurfaceRun,
): ConversationSettings {
  const agent = world.harness.agent(run.agent);
  return {
    project_dir: run.project_dir,
    model: agent.model,
    effort: run.app.effort,
    ...agentPolicy(agent),
    env: {
      ...world.workerEnv,
      ...agent.env,
      ...workerVariables(run, world.runDirectories.directory(run.launch_id)),
    },
  };
}

/** Stores what the server reports of a conversation; a new identity is also written to the run directory. */
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
