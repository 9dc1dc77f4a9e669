import type { ClaimAddress } from '../../../contract/http/capture.ts';
import { type Rehearsal, rehearsal } from '../../../contract/http/rehearsal.ts';
import type { LaunchPlan } from '../../../harness/adapter.ts';
import { captureSessionName } from '../../../mux/session-name.ts';
import { type CheckedCapture, capturePrompt } from '../../claims/capture-checks.ts';
import type { CaptureRecord } from '../../run-directory/capture-directory.ts';
import { buildRunScript, shownArgv } from '../../run-directory/run-script.ts';
import type { World } from '../../world/world.ts';

export type PlannedCapture = {
  record: CaptureRecord;
  text: string;
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
  const run_dir = world.runDirectories.directory(launch_id);
  const plan = world.harness.adapter(agent.harness).planLaunch({
    agent,
    effort,
    session_uuid: uuid,
    resume: null,
    project_dir,
    session_name: mux_session,
    run_dir,
    prompt_file: world.runDirectories.promptFile(launch_id),
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
    asked: { effort },
  };
  const prompt = capturePrompt(world, checked, record, claim, 'cli');
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
    nice: world.settings.worker_nice,
    env,
  });
  return { record, text: checked.prompt, prompt, script, files: plan.files, argv: plan.argv, env };
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
