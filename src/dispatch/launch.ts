import { isCoded, messageOf } from '../base/errors.ts';
import type { Agent } from '../contract/agent.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import type { LaunchPlan } from '../harness/adapter.ts';
import { workerSessionName } from '../mux/session-name.ts';
import { launchPrompt } from './launch-prompt.ts';
import { markersOf } from './markers.ts';
import { refuseByDirectory, refuseByDocument } from './preflight.ts';
import type { Refusal } from './refusals.ts';
import { type Authority, runIdFor } from './run-id.ts';
import { buildRunScript, runScriptCommand } from './run-script.ts';
import type { Run } from './runs.ts';
import type { World } from './world.ts';

export type LaunchResult =
  | { kind: 'launched'; run: Run; document: FiberDocument }
  | { kind: 'refused'; refusal: Refusal };

type Refused = Extract<LaunchResult, { kind: 'refused' }>;

/** The checks' answer: what a launch will run, with nothing written yet. */
export type Checked = { kind: 'ready'; agent: Agent; project_dir: string } | Refused;

/**
 * Every check of a launch, before any effect (WPL-1). `project_dir` replaces the document's own: a
 * directory that a person has just confirmed.
 */
export async function checkLaunch(
  world: World,
  document: FiberDocument,
  project_dir = document.project_dir,
): Promise<Checked> {
  const refusal =
    refuseByDocument({ ...document, project_dir }) ??
    (await refuseByDirectory(project_dir ?? '', world.clock));
  if (refusal !== null) return { kind: 'refused', refusal };
  try {
    const agent = world.harness.agent(document.svc?.agent ?? null);
    return { kind: 'ready', agent, project_dir: project_dir ?? '' };
  } catch (error) {
    return { kind: 'refused', refusal: refusalOf(error) };
  }
}

/** The run of a launch that passed its checks; nothing is written yet. */
export function planRun(
  world: World,
  document: FiberDocument,
  checked: Extract<Checked, { kind: 'ready' }>,
  authority: Authority,
): { run: Run; plan: LaunchPlan } {
  const now = world.clock.now();
  const launch_id = world.newUlid();
  const uid = document.uid ?? '';
  const mux_session = workerSessionName(document.leaf, uid);
  const plan = world.harness.adapter(checked.agent.harness).planLaunch({
    agent: checked.agent,
    effort: document.svc?.effort ?? checked.agent.default_effort,
    session_uuid: world.newUuid(),
    resume: null,
    project_dir: checked.project_dir,
    session_name: mux_session,
    run_dir: world.launches.directory(launch_id),
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
    surface: 'cli',
    project_dir: checked.project_dir,
    started_at: now,
    state: 'claimed',
    confirmed: false,
    transcript_path: null,
    last_activity_at: null,
  };
  return { run, plan };
}

/**
 * Starts a planned run: the claim on disk, the document's markers, the session, the ledger line. The caller
 * holds the fiber's claim in memory. A kill of the daemon between any two steps leaves a claim that the next
 * start can judge: either a session of the claimed name runs, or nothing was started.
 */
export async function startRun(
  world: World,
  document: FiberDocument,
  planned: { run: Run; plan: LaunchPlan },
  authority: Authority,
): Promise<LaunchResult> {
  const { run, plan } = planned;
  const prompt = await launchPrompt(world, document, run, authority);
  claimOnDisk(world, document, run, plan, prompt);
  let marked: FiberDocument;
  try {
    marked = await world.documents.change(document, (current) => markersOf(current, run, authority));
  } catch (error) {
    abandon(world, run, 'not_marked');
    return { kind: 'refused', refusal: refusalOf(error) };
  }
  const created = await world.mux.create({
    name: run.mux_session,
    cwd: run.project_dir,
    command: runScriptCommand(world.launches.directory(run.launch_id)),
  });
  if (created.kind !== 'created') {
    abandon(world, run, created.kind);
    return { kind: 'refused', refusal: refusalOfSession(run, created) };
  }
  recordDispatch(world, run);
  world.launches.update(run.launch_id, { state: 'spawned' });
  run.state = 'starting';
  return { kind: 'launched', run, document: marked };
}

/** The ledger line of a launch (EVT-4); written again by an adoption that finds a launch cut short. */
export function recordDispatch(world: World, run: Run): void {
  world.recordSession({
    fiber: run.fiber_id,
    uid: run.uid,
    session: run.session_uuid,
    thread_id: null,
    harness: run.harness,
    host: world.host,
    mux: run.mux_session,
    at: run.started_at,
    kind: 'dispatch',
    run_id: run.run_id,
  });
}

function claimOnDisk(
  world: World,
  document: FiberDocument,
  run: Run,
  plan: LaunchPlan,
  prompt: string,
): void {
  const run_dir = world.launches.directory(run.launch_id);
  const script = buildRunScript({
    run_dir,
    project_dir: run.project_dir,
    argv: plan.argv,
    prompt_bytes: Buffer.byteLength(prompt),
    env: {
      ...world.workerEnv,
      ...plan.env,
      SVC_FIBER: run.fiber_id,
      SVC_FIBER_UID: run.uid,
      SVC_STORE: run.store,
      SVC_RUN_ID: run.run_id,
      SVC_RUN_DIR: run_dir,
      SVC_HARNESS: run.harness,
    },
  });
  world.launches.claim({
    manifest: {
      version: 1,
      launch_id: run.launch_id,
      run_id: run.run_id,
      fiber: run.fiber_id,
      uid: run.uid,
      leaf: document.leaf,
      store: run.store,
      path: run.path,
      mux_session: run.mux_session,
      agent: run.agent,
      harness: run.harness,
      session_uuid: run.session_uuid,
      surface: run.surface,
      project_dir: run.project_dir,
      dispatched_at: run.started_at,
      state: 'claimed',
      ended_at: null,
      boot_id: world.bootId,
    },
    prompt,
    script,
    files: plan.files,
  });
}

function abandon(world: World, run: Run, reason: string): void {
  world.launches.writeEnd(run.launch_id, reason, world.clock.now());
  world.launches.update(run.launch_id, { state: 'ended', ended_at: world.clock.now() });
}

function refusalOfSession(
  run: Run,
  created: { kind: 'duplicate' } | { kind: 'failed'; code: string; detail: string },
): Refusal {
  if (created.kind === 'failed') return { reason: created.code, message: created.detail };
  return {
    reason: 'session_name_taken',
    message: `a tmux session named ${run.mux_session} already exists and holds no worker of ours; close it first`,
  };
}

/** A coded error as a refusal; anything else is a fault of ours and is thrown on. */
function refusalOf(error: unknown): Refusal {
  if (isCoded(error)) return { reason: error.code, message: messageOf(error) };
  throw error;
}
