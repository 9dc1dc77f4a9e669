import { messageOf } from '../../base/errors.ts';
import type { Agent } from '../../contract/agent.ts';
import type { HarnessName } from '../../contract/harness-name.ts';
import type { ContextTarget } from '../../contract/threads/context-target.ts';
import type { TranscriptProbe } from '../../harness/adapter.ts';
import type { PastSession } from '../../harness/transcripts/past-session.ts';
import type { Run } from '../run/run.ts';
import { transcriptOfRun } from '../run/run-session.ts';
import type { World } from '../world/world.ts';

/** The session of a worker that runs, or of one that ended and whose conversation may be resumed. */
export async function contextTarget(
  world: World,
  runs: readonly Run[],
  { harness, native_id }: { harness: HarnessName; native_id: string },
): Promise<ContextTarget> {
  const isIts = (one: { harness: HarnessName; session_uuid: string | null }) =>
    one.harness === harness && one.session_uuid === native_id;
  const run = runs.find((one) => isIts(one) || (one.harness === harness && one.app?.thread_id === native_id));
  if (run !== undefined) {
    const { fiber_id, uid } = run;
    if (run.app !== undefined)
      return { kind: 'found', fiber_id, uid, transcript: null, hooks: null, setup: null };
    const found = await transcriptOfRun(world, run);
    return withHooks(world, agentOf(world, run.agent), { fiber_id, uid }, found);
  }
  const past = world.runDirectories
    .all()
    .find(
      (one) => isIts(one) || (one.harness === harness && one.left_sessions?.includes(native_id) === true),
    );
  if (past === undefined) return { kind: 'none' };
  const whose = { fiber_id: past.fiber, uid: past.uid };
  if (past.app !== undefined) return { kind: 'found', ...whose, transcript: null, hooks: null, setup: null };
  const agent = agentOf(world, past.agent);
  if (agent === null) return { kind: 'lost' };
  const found = await world.harness.findPastSession(agent, native_id);
  if (found.kind === 'missing') return { kind: 'lost' };
  return withHooks(world, agent, whose, found);
}

async function withHooks(
  world: World,
  agent: Agent | null,
  whose: Pick<ContextTarget & { kind: 'found' }, 'fiber_id' | 'uid'>,
  found: TranscriptProbe | PastSession,
): Promise<ContextTarget> {
  if (found.kind === 'unknown') return { kind: 'unknown', detail: found.detail };
  const transcript = found.kind === 'found' ? found.path : null;
  try {
    const hooks = agent === null ? 'absent' : await world.harness.hooks(agent);
    const setup = agent === null ? null : world.harness.setupCommand(agent);
    return { kind: 'found', ...whose, transcript, hooks, setup };
  } catch (error) {
    return { kind: 'unknown', detail: messageOf(error) };
  }
}

/** Null if it is no longer in the registry. */
function agentOf(world: Pick<World, 'harness'>, id: string): Agent | null {
  try {
    return world.harness.agent(id);
  } catch {
    return null;
  }
}
