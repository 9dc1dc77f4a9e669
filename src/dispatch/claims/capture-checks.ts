import { CodedError, isCoded } from '../../base/errors.ts';
import type { Agent } from '../../contract/agent.ts';
import type {
  CaptureRefused,
  CaptureRequest,
  CaptureView,
  ClaimAddress,
} from '../../contract/http/capture.ts';
import {
  DEFAULT_SURFACE,
  SURFACE_RULES,
  type Surface,
  surfaceOfConversation,
} from '../../contract/surface.ts';
import { resolveEffort } from '../../harness/agents/registry.ts';
import type { Refusal } from '../holds/refusals.ts';
import { captureReference, workerSkills } from '../plan/launch-message.ts';
import { refuseByDirectory, requestedDirectory } from '../plan/preflight.ts';
import { buildPrompt } from '../plan/prompt.ts';
import { type CaptureRecord, captureTextFile } from '../run-directory/capture-directory.ts';
import type { World } from '../world/world.ts';

const HOUR_MS = 60 * 60 * 1000;
/** How long a capture that ended without a fiber is shown, and how long its text is kept, in milliseconds. */
const SHOWN_MS = 24 * HOUR_MS;
export const KEPT_MS = 14 * 24 * HOUR_MS;

/** A capture as it is asked for, with the store that its fiber goes to. */
export type AskedCapture = CaptureRequest & { claim: ClaimAddress; store: string };

/** What a capture that passed its checks runs with. */
export type CheckedCapture = {
  agent: Agent;
  effort: string | null;
  project_dir: string;
  store: string;
  prompt: string;
  meeting: string | undefined;
};

/** Every check of a capture, before any effect; throws `invalid_request` for what no resend would fix. */
export async function checkCapture(
  world: Pick<World, 'harness' | 'lookAtDirectory'>,
  request: CaptureRequest & { store: string },
): Promise<CheckedCapture | Refusal> {
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
    if (SURFACE_RULES[request.surface ?? DEFAULT_SURFACE].in_terminal) await world.harness.probe(agent);
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

/** The launch message of a capture (PRM-8). */
export function capturePrompt(
  world: Pick<World, 'host' | 'skillsDir'>,
  checked: CheckedCapture,
  record: CaptureRecord,
  claim: ClaimAddress,
  surface: Surface,
): string {
  const skills = workerSkills(world.skillsDir);
  const { session_uuid } = record;
  const mux_session = SURFACE_RULES[surface].in_terminal ? record.mux_session : null;
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
        ...(mux_session === null ? [`--surface ${surface}`] : ['--mux-session', mux_session]),
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
    ...(refusal.thread_id === undefined
      ? {}
      : { surface: surfaceOfConversation(refusal), thread_id: refusal.thread_id }),
  };
}

/** Whether `GET /state` shows a capture still. */
export function isShown({ ended_at, dismissed }: CaptureRecord, now: number): boolean {
  return dismissed !== true && (ended_at === null || now - ended_at < SHOWN_MS);
}

/** What `GET /state` shows of an unclaimed capture on either surface, besides its state and where it runs. */
export function viewOfCapture(
  record: CaptureRecord,
  { runDirectories }: Pick<World, 'runDirectories'>,
): Omit<CaptureView, 'surface' | 'mux_session' | 'state'> {
  const { session_uuid, run_id, agent, harness, project_dir, store } = record;
  const { captured_at, ended_at, ended_reason } = record;
  return {
    ...{ session_uuid, run_id, agent, harness, project_dir, store },
    ...{ captured_at, ended_at, ended_reason },
    effort: record.asked?.effort ?? null,
    prompt_file: runDirectories.promptFile(record.launch_id),
    text_file: captureTextFile(runDirectories.directory(record.launch_id), record),
  };
}
