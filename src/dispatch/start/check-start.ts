import { isCoded, messageOf } from '../../base/errors.ts';
import type { Agent } from '../../contract/agent.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import type { LaunchCheck } from '../../contract/gates.ts';
import { DEFAULT_SURFACE, SURFACE_RULES } from '../../contract/surface.ts';
import { resolveEffort } from '../../harness/agents/registry.ts';
import { workerSessionName } from '../../mux/session-name.ts';
import { storageErrorOf } from '../../platform/storage-error.ts';
import type { Refusal } from '../holds/refusals.ts';
import { type Conversation, decideConversation, onSurface } from '../plan/conversation.ts';
import { launchMessage } from '../plan/launch-message.ts';
import type { PlannedRun } from '../plan/planned-run.ts';
import { refuseByDirectory, refuseByDocument } from '../plan/preflight.ts';
import { findRoleStore } from '../plan/role-store.ts';
import type { Run } from '../run/run.ts';
import { type Authority, type ResumeMode, runIdFor } from '../run/run-id.ts';
import { workTreeOf } from '../run/work-trees.ts';
import { SURFACES } from '../surfaces/surfaces.ts';
import type { World } from '../world/world.ts';

/** What a start asks of the fiber's conversation; `cuts`: a running worker is ended for it. */
export type Wish = { mode: ResumeMode | null; cuts: boolean };
const NO_WISH: Wish = { mode: null, cuts: false };

/** The result of the checks: what a start will run, with nothing written yet. */
export type Checked =
  | {
      kind: 'ready';
      agent: Agent;
      effort: string | null;
      project_dir: string;
      conversation: Conversation;
      role_store: string | null;
      /** The work tree that its changes share with those of other fibers; null if the check did not find one. */
      work_tree: string | null;
    }
  | { kind: 'refused'; refusal: Refusal };

/**
 * Every check of a start, before any effect (WPL-1). `project_dir` replaces the document's own: a
 * directory that a person has just confirmed. Throws what the agent registry throws. `asking` is told each check before it is asked, in the order of `LAUNCH_CHECKS`.
 */
export async function checkStart(
  world: World,
  document: FiberDocument,
  project_dir = document.project_dir,
  options: { wish?: Wish; asking?: (check: LaunchCheck) => void } = {},
): Promise<Checked> {
  const { wish = NO_WISH, asking = () => {} } = options;
  asking('document_checks');
  const refusal = refuseByDocument({ ...document, project_dir }, world.documents.twins(document));
  if (refusal !== null) return { kind: 'refused', refusal };
  const name = document.svc?.surface ?? DEFAULT_SURFACE;
  asking('agent');
  const agent = world.harness.agent(document.svc?.agent ?? SURFACE_RULES[name].agent);
  const effort = resolveEffort(agent, document.svc?.effort ?? null);
  const directory = project_dir ?? '';
  asking('project_dir');
  const look = await world.lookAtDirectory(directory);
  const refused = refuseByDirectory(directory, look);
  if (refused !== null) return { kind: 'refused', refusal: refused };
  asking('agent_program');
  const unserved = await SURFACES[name].refuse(world, document, agent);
  if (unserved !== null) return { kind: 'refused', refusal: unserved };
  asking('conversation');
  const request = { ...wish, agent, project_dir: directory };
  const conversation = onSurface(document, await decideConversation(world, document, request));
  if (conversation.kind === 'refused') return conversation;
  const role_store = await findRoleStore(world, document);
  const work_tree = workTreeOf(look);
  return { kind: 'ready', agent, effort, project_dir: directory, conversation, role_store, work_tree };
}

/** The run of a start that passed its checks; nothing is written yet. */
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
    run_dir: world.runDirectories.directory(launch_id),
    prompt_file: world.runDirectories.promptFile(launch_id),
  });
  const surface = document.svc?.surface ?? DEFAULT_SURFACE;
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
    surface,
    project_dir: checked.project_dir,
    ...(checked.work_tree === null ? {} : { work_tree: checked.work_tree }),
    started_at: now,
    by_request: authority.kind === 'request',
    ...(authority.kind === 'request' && authority.message_id !== undefined
      ? { message_id: authority.message_id }
      : {}),
    boot_id: world.bootId,
    state: { kind: 'starting' },
    transcript_path: null,
    last_activity_at: null,
    ...SURFACES[surface].fields(checked, authority.user_message ?? null),
  };
  const memory = world.workerMemory.entry(launch_id, checked.agent);
  const { role_store } = checked;
  const prompt = launchMessage(world, document, { run, conversation, role_store }, authority);
  return { run, prompt, plan, memory };
}

/** Any error of a start as a refusal, so that it is seen where the fiber is seen. */
export function refusalOf(
  world: Pick<World, 'logger' | 'settings'>,
  document: FiberDocument,
  error: unknown,
): Refusal {
  if (isCoded(error)) return { reason: error.code, message: messageOf(error) };
  const refused = storageErrorOf(error, world.settings.data_dir, 'no worker was started');
  if (isCoded(refused)) return { reason: refused.code, message: refused.message };
  world.logger.error({ err: error, fiber: document.id }, 'a launch failed');
  return { reason: 'launch_failed', message: messageOf(error) };
}
