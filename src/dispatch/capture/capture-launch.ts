import { CodedError, isCoded } from '../../base/errors.ts';
import type { Agent } from '../../contract/agent.ts';
import type { CaptureRefused, CaptureRequest, ClaimAddress } from '../../contract/http/capture.ts';
import { type Rehearsal, rehearsal } from '../../contract/http/rehearsal.ts';
import type { LaunchPlan } from '../../harness/adapter.ts';
import { resolveEffort } from '../../harness/agents/registry.ts';
import { captureSessionName } from '../../mux/session-name.ts';
import type { Refusal } from '../refusals.ts';
import { buildRunScript } from '../run/run-script.ts';
import { captureReference, workerSkills } from '../start/launch-prompt.ts';
import { refuseByDirectory } from '../start/preflight.ts';
import { buildPrompt } from '../start/prompt.ts';
import { requestedDirectory } from '../start/requested-directory.ts';
import { shownArgv } from '../start/show-start.ts';
import type { World } from '../world.ts';
import type { CaptureRecord } from './capture-directory.ts';

/** What a capture that passed its checks runs with. */
export type CheckedCapture = {
  agent: Agent;
  effort: string | null;
  project_dir: string;
  store: string;
  prompt: string;
  meeting: string | undefined;
};

/** Every check of a capture, before any effect; throws `invalid_request` for what no resend would mend. */
export async function checkCapture(
  world: World,
  request: CaptureRequest & { store: string },
): Promise<CheckedCapture | Refusal> {
  if (request.meeting !== undefined)
    return { reason: 'meeting_unsupported', message: 'this daemon records no meetings; leave out meeting' };
  if (!request.prompt?.trim())
    throw new CodedError('invalid_request', 'prompt is empty; say in it what the fiber is about');
  const directory = requestedDirectory(request.project_dir);
  if (directory === undefined)
    return {
      reason: 'project_dir_missing',
      message: 'project_dir is empty; name the folder that the worker runs in',
      needs: 'project_dir',
    };
  try {
    const agent = world.harness.agent(request.agent ?? null);
    const effort = resolveEffort(agent, request.effort ?? null);
    const refused = refuseByDirectory(directory, await world.lookAtDirectory(directory));
    if (refused !== null) return refused;
    if (request.surface !== 'app') await world.harness.probe(agent);
    return {
      agent,
      effort,
      project_dir: directory,
      store: request.store,
      prompt: request.prompt,
      meeting: request.meeting_launch,
    };
  } catch (error) {
    if (isCoded(error)) return { reason: error.code, message: error.message };
    throw error;
  }
}

export type PlannedCapture = {
  record: CaptureRecord;
  prompt: string;
  script: string;
  files: LaunchPlan['files'];
  argv: LaunchPlan['argv'];
  env: Record<string, string>;
};

/** The session of a capture that passed its checks, and all it is started with; nothing is written yet. */
export function planCapture(world: World, checked: CheckedCapture, claim: ClaimAddress): PlannedCapture {
  const { agent, effort, project_dir, store } = checked;
  const launch_id = world.newUlid();
  const uuid = world.newUuid();
  const mux_session = captureSessionName(uuid);
  const run_dir = world.launches.directory(launch_id);
  const plan = world.harness.adapter(agent.harness).planLaunch({
    agent,
    effort,
    session_uuid: uuid,
    resume: null,
    project_dir,
    session_name: mux_session,
    run_dir,
    prompt_file: world.launches.promptFile(launch_id),
    capture: true,
  });
  const record: CaptureRecord = {
    version: 1,
    launch_id,
    run_id: launch_id,
    mux_session,
    agent: agent.id,
    harness: agent.harness,
    session_uuid: plan.session_uuid,
    project_dir,
    store,
    captured_at: world.clock.now(),
    state: 'claimed',
    ended_at: null,
    ended_reason: null,
    boot_id: world.bootId,
  };
  const prompt = capturePrompt(world, checked, record, claim);
  const env = {
    ...world.workerEnv,
    ...plan.env,
    SVC_CAPTURE: mux_session,
    SVC_STORE: store,
    SVC_RUN_ID: record.run_id,
    SVC_RUN_DIR: run_dir,
    SVC_HARNESS: agent.harness,
  };
  const prompt_bytes = Buffer.byteLength(prompt);
  const script = buildRunScript({
    run_dir,
    project_dir,
    argv: plan.argv,
    prompt_bytes,
    prompt_on_stdin: plan.prompt_on_stdin,
    memory: world.workerMemory.entry(launch_id, agent),
    env,
  });
  return { record, prompt, script, files: plan.files, argv: plan.argv, env };
}

/** What the start of a planned capture writes and runs. */
export function showCapture({ record, prompt, argv, env }: PlannedCapture): Rehearsal {
  const { agent, project_dir, mux_session, session_uuid, launch_id } = record;
  return rehearsal(`start ${agent} in ${project_dir} to file a fiber of the text`, {
    prompt,
    command: { argv: shownArgv(argv), cwd: project_dir, env: Object.keys(env).sort(), mux_session },
    minted: { launch_id, mux_session, ...(session_uuid === null ? {} : { session_uuid }) },
  });
}

/** The launch message of a capture (PRM-8). */
export function capturePrompt(
  world: World,
  checked: CheckedCapture,
  record: CaptureRecord,
  claim: ClaimAddress,
): string {
  const skills = workerSkills(world.skillsDir);
  const { session_uuid } = record;
  const surface = record.app === undefined ? 'cli' : 'app';
  const mux_session = surface === 'app' ? null : record.mux_session;
  const { meeting } = checked;
  return buildPrompt({
    variant: 'capture',
    skills,
    reference: captureReference(world.skillsDir),
    surface,
    headless: false,
    run_id: record.run_id,
    launch_id: record.launch_id,
    install: {
      host: world.host,
      store: checked.store,
      project_dir: checked.project_dir,
      agent: checked.agent.id,
      ...(checked.effort === null ? {} : { effort: checked.effort }),
      surface,
    },
    claim: {
      ...claim,
      body: {
        fiber_id: '<fiber>',
        surface,
        ...(mux_session === null ? {} : { mux_session }),
        ...(session_uuid === null ? {} : { session_uuid }),
        ...(meeting === undefined ? {} : { meeting }),
      },
      command: [
        'svc claim <fiber>',
        ...(mux_session === null ? ['--surface app'] : ['--mux-session', mux_session]),
        ...(session_uuid === null ? [] : ['--session-uuid', session_uuid]),
        ...(meeting === undefined ? [] : ['--meeting', meeting]),
      ].join(' '),
    },
    user_message: checked.prompt,
  });
}

export function refusedCapture(host: string, refusal: Refusal): CaptureRefused {
  return {
    captured: false,
    reason: refusal.reason,
    host,
    message: refusal.message,
    ...(refusal.needs === undefined ? {} : { needs: refusal.needs }),
    ...(refusal.thread_id === undefined ? {} : { surface: 'app', thread_id: refusal.thread_id }),
  };
}
