import { isCoded, messageOf } from '../../base/errors.ts';
import type { Agent } from '../../contract/agent.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import type { LaunchCheck } from '../../contract/gates.ts';
import type { LaunchPlan } from '../../harness/adapter.ts';
import { resolveEffort } from '../../harness/agents/registry.ts';
import { APP_AGENT } from '../../lifecycle/agent-verbs.ts';
import { workerSessionName } from '../../mux/session-name.ts';
import type { GroupEntry } from '../../platform/memory-groups.ts';
import { storageErrorOf } from '../../platform/storage-error.ts';
import { onSurface, planAppRun, refuseByAppServer } from '../app/app-preflight.ts';
import { abandonClaim } from '../capture/abandon-claim.ts';
import { mayBeOf } from '../end/liveness.ts';
import type { Refusal } from '../refusals.ts';
import type { Run } from '../run/run.ts';
import { type Authority, runIdFor } from '../run/run-id.ts';
import { recordDispatch } from '../run/run-ledger.ts';
import { buildRunScript, runScriptCommand } from '../run/run-script.ts';
import { manifestOfRun } from '../run/runs.ts';
import type { World } from '../world.ts';
import { type Conversation, decideConversation } from './conversation.ts';
import { markersOf, undoOf } from './launch-markers.ts';
import { launchPrompt } from './launch-prompt.ts';
import { refuseByDirectory, refuseByDocument } from './preflight.ts';
import type { ResumeMode } from './resume.ts';
import { workerVariables } from './worker-variables.ts';

export type LaunchResult =
  | { kind: 'launched'; run: Run }
  | { kind: 'refused'; refusal: Refusal }
  /** The poller found the document no longer as it had judged it; nothing was written. */
  | { kind: 'moot' };

/** What came of a start; `uncertain`: the multiplexer did not say whether there is a session. */
export type Started = LaunchResult | { kind: 'uncertain'; refusal: Refusal };

/** What a launch asks of the fiber's conversation; `cuts`: a running worker is ended for it. */
export type Wish = { mode: ResumeMode | null; cuts: boolean };
const NO_WISH: Wish = { mode: null, cuts: false };

/** The checks' answer: what a launch will run, with nothing written yet. */
export type Checked =
  | { kind: 'ready'; agent: Agent; effort: string | null; project_dir: string; conversation: Conversation }
  | { kind: 'refused'; refusal: Refusal };

/**
 * Every check of a launch, before any effect (WPL-1). `project_dir` replaces the document's own: a
 * directory that a person has just confirmed. Throws what the agent registry throws. `asking` is told each check before it is asked, in the order of `LAUNCH_CHECKS`.
 */
export async function checkLaunch(
  world: World,
  document: FiberDocument,
  project_dir = document.project_dir,
  options: { wish?: Wish; asking?: (check: LaunchCheck) => void } = {},
): Promise<Checked> {
  const { wish = NO_WISH, asking = () => {} } = options;
  asking('document_checks');
  const refusal = refuseByDocument({ ...document, project_dir }, world.documents.isAmbiguous(document));
  if (refusal !== null) return { kind: 'refused', refusal };
  const app = document.svc?.surface === 'app';
  asking('agent');
  const agent = world.harness.agent(document.svc?.agent ?? (app ? APP_AGENT : null));
  const effort = resolveEffort(agent, document.svc?.effort ?? null);
  const directory = project_dir ?? '';
  asking('project_dir');
  const refused = refuseByDirectory(directory, await world.lookAtDirectory(directory));
  if (refused !== null) return { kind: 'refused', refusal: refused };
  asking('agent_program');
  const unserved = app ? await refuseByAppServer(world, document, agent) : null;
  if (unserved !== null) return { kind: 'refused', refusal: unserved };
  if (!app) await world.harness.probe(agent);
  asking('conversation');
  const request = { ...wish, agent, project_dir: directory };
  const conversation = onSurface(document, await decideConversation(world, document, request));
  if (conversation.kind === 'refused') return conversation;
  return { kind: 'ready', agent, effort, project_dir: directory, conversation };
}

/** A launch that passed its checks: the run, its launch message, what is started, and in which memory group. */
export type PlannedRun = {
  run: Run;
  prompt: string;
  plan: LaunchPlan;
  memory: GroupEntry | null;
};

/** The run of a launch that passed its checks; nothing is written yet. */
export function planRun(
  world: World,
  document: FiberDocument,
  checked: Extract<Checked, { kind: 'ready' }>,
  authority: Authority,
): PlannedRun {
  const { conversation } = checked;
  const now = world.clock.now();
  const launch_id = world.newUlid();
  const uid = document.uid ?? '';
  const mux_session = workerSessionName(document.leaf, uid);
  const plan = world.harness.adapter(checked.agent.harness).planLaunch({
    agent: checked.agent,
    effort: checked.effort,
    session_uuid: world.newUuid(),
    resume: conversation.kind === 'resume' ? conversation.session_uuid : null,
    project_dir: checked.project_dir,
    session_name: mux_session,
    run_dir: world.launches.directory(launch_id),
    prompt_file: world.launches.promptFile(launch_id),
  });
  const standing = document.svc?.kind === 'standing';
  const run: Run = {
    key: uid,
    fiber_id: document.id,
    uid,
    store: document.store,
    path: document.path,
    launch_id,
    run_id: runIdFor({ standing, authority, launch_id, now }),
    mux_session,
    agent: checked.agent.id,
    harness: checked.agent.harness,
    session_uuid: plan.session_uuid,
    surface: document.svc?.surface ?? 'cli',
    project_dir: checked.project_dir,
    started_at: now,
    boot_id: world.bootId,
    state: 'claimed',
    confirmed: false,
    transcript_path: null,
    last_activity_at: null,
    being_started: true,
    spawned: false,
    stray: false,
    ending: null,
    ...(document.svc?.surface === 'app' ? { app: planAppRun(checked) } : {}),
    ...(conversation.kind === 'resume' && document.svc?.surface !== 'app'
      ? {
          resume: {
            session_uuid: conversation.session_uuid,
            size: conversation.size,
            user_message: authority.user_message ?? null,
          },
        }
      : {}),
  };
  const memory = world.workerMemory.entry(launch_id, checked.agent);
  const prompt = launchPrompt(world, document, { run, conversation }, authority);
  return { run, prompt, plan, memory };
}

/**
 * Starts a planned run: the claim on disk, the document's markers, the session, the ledger line. The caller
 * holds the fiber's claim in memory. A kill of the daemon between any two steps leaves a claim that the next
 * start can judge: either a session of the claimed name runs, or nothing was started and the document's
 * earlier values are in the claim.
 */
export async function startRun(
  world: World,
  document: FiberDocument,
  planned: PlannedRun,
  authority: Authority,
  confirmed_dir: string | undefined,
): Promise<Started> {
  const { run } = planned;
  // A session of this name that is there already is nobody's start: once claimed, the two could not be told apart
  // where the clock was turned back meanwhile.
  const listing = await world.mux.list();
  if (listing.kind === 'alive' && listing.sessions.some(({ name }) => name === run.mux_session))
    return { kind: 'refused', refusal: nameTaken(run) };
  world.launches.claim(composeStart(world, document, planned).claim);
  const unmarked = await markDocument(world, document, run, authority, confirmed_dir);
  if (unmarked !== null) return unmarked;
  const created = await createSession(world, run);
  if (created.kind !== 'launched') {
    if (created.kind === 'refused') await abandonClaim(world, run);
    return created;
  }
  recordDispatch(world, run);
  world.launches.update(run.launch_id, { state: 'spawned' });
  run.spawned = true;
  run.state = 'starting';
  return created;
}

/** Marks a claimed launch in its document; what came of the launch when that cannot be written, else null. */
export async function markDocument(
  world: World,
  document: FiberDocument,
  run: Run,
  authority: Authority,
  confirmed_dir: string | undefined,
): Promise<LaunchResult | null> {
  try {
    await world.documents.change(document, (current) => {
      const change = markersOf(document, current, run, authority, {
        daemon: world.daemonId,
        confirmed_dir,
      });
      world.launches.update(run.launch_id, { undo: undoOf(current, change) });
      return change;
    });
    return null;
  } catch (error) {
    await abandonClaim(world, run);
    if (authority.kind === 'poll' && (isCoded(error, 'conflict') || isCoded(error, 'fiber_not_found')))
      return { kind: 'moot' };
    return { kind: 'refused', refusal: refusalOf(world, document, error) };
  }
}

/** A session whose start failed may be there all the same: only what was seen to be missing is a refusal. */
async function createSession(world: World, run: Run): Promise<Started> {
  const created = await world.mux
    .create({
      name: run.mux_session,
      cwd: run.project_dir,
      command: runScriptCommand(world.launches.directory(run.launch_id)),
    })
    .catch((error) => ({
      kind: 'failed' as const,
      code: 'mux_unavailable' as const,
      detail: messageOf(error),
    }));
  if (created.kind === 'created') return { kind: 'launched', run };
  if (created.kind === 'duplicate') return { kind: 'refused', refusal: nameTaken(run) };
  const refusal = { reason: created.code, message: created.detail };
  const listing = await world.mux.list();
  if (listing.kind === 'unknown') return { kind: 'uncertain', refusal };
  const ran =
    world.launches.agent(run.launch_id).kind !== 'none' ||
    world.launches.readEnd(run.launch_id).exit.kind !== 'none';
  const listed =
    listing.kind === 'alive' &&
    listing.sessions.some((session) =>
      mayBeOf(session, { mux_session: run.mux_session, state: 'claimed', dispatched_at: run.started_at }),
    );
  return listed || ran ? { kind: 'launched', run } : { kind: 'refused', refusal };
}

function nameTaken(run: Run): Refusal {
  return {
    reason: 'session_name_taken',
    message: `a tmux session named ${run.mux_session} already exists and holds no worker of ours; close it first`,
  };
}

/** What a start writes into its run directory and hands to its worker; nothing is written yet. */
export function composeStart(
  world: World,
  document: FiberDocument,
  planned: PlannedRun,
): { claim: Parameters<World['launches']['claim']>[0]; env: Record<string, string> } {
  const { run, prompt, plan } = planned;
  const run_dir = world.launches.directory(run.launch_id);
  const env = { ...world.workerEnv, ...plan.env, ...workerVariables(run, run_dir) };
  const script = buildRunScript({
    run_dir,
    project_dir: run.project_dir,
    argv: plan.argv,
    prompt_bytes: Buffer.byteLength(prompt),
    prompt_on_stdin: plan.prompt_on_stdin,
    memory: planned.memory,
    env,
  });
  const manifest = manifestOfRun(run, document.leaf);
  return { claim: { manifest, prompt, script, files: plan.files }, env };
}

/** Any error of a launch as a refusal, so that it is seen where the fiber is seen. */
export function refusalOf(world: World, document: FiberDocument, error: unknown): Refusal {
  if (isCoded(error)) return { reason: error.code, message: messageOf(error) };
  const refused = storageErrorOf(error, world.settings.data_dir, 'no worker was started');
  if (isCoded(refused)) return { reason: refused.code, message: refused.message };
  world.logger.error({ err: error, fiber: document.id }, 'a launch failed');
  return { reason: 'launch_failed', message: messageOf(error) };
}
