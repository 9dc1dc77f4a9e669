import { isCoded } from '../../../base/errors.ts';
import type { Agent } from '../../../contract/agent.ts';
import type { FiberDocument } from '../../../contract/fiber.ts';
import { HARNESS_NAMES } from '../../../contract/harness-name.ts';
import type { MuxSession } from '../../../mux/mux.ts';
import { parseWorkerSessionName } from '../../../mux/session-name.ts';
import type { Memory } from '../../holds/memory.ts';
import { CREATED_SLACK_MS } from '../../run/liveness.ts';
import { type Run, runStarted } from '../../run/run.ts';
import { runOfManifest } from '../../run/runs.ts';
import type { RunManifest } from '../../run-directory/run-records.ts';
import { keyOf } from '../../world/documents.ts';
import type { World } from '../../world/world.ts';

export type AdoptedSession = { run: Run; message: string };

/**
 * The run of a session that has a worker's name and that no run in memory accounts for; null when it is no
 * worker of this host or nothing can be told yet; `remnant` for what an ended worker left behind (a pane that a
 * person opened, a session that is about to close).
 */
export async function recogniseSession(
  world: World,
  memory: Pick<Memory, 'runs' | 'starting'>,
  session: MuxSession,
): Promise<AdoptedSession | 'remnant' | null> {
  const named = parseWorkerSessionName(session.name);
  if (named === null || session.pane_dead) return null;
  const manifest = manifestOf(world, session);
  const document = manifest === undefined ? world.documents.byUid(named.uid) : world.documents.of(manifest);
  if (document?.svc?.host !== world.host) return null;
  const key = keyOf(document);
  if (memory.starting.has(key) || memory.runs.get(key) !== undefined) return null;
  if (manifest === undefined)
    return {
      run: strayRun(world, document, named.uid, session),
      message: 'adopted a worker session that has no run directory',
    };
  const agent = world.runDirectories.agent(manifest.launch_id);
  if (agent.kind !== 'found') return null;
  const life = await world.processes.look(agent.value);
  if (life !== 'alive') return life === 'gone' ? 'remnant' : null;
  const run = runOfManifest(manifest);
  runStarted(run);
  return {
    run,
    message: 'adopted a worker whose launch had been given up',
  };
}

/** The start that made this session. */
function manifestOf(world: Pick<World, 'runDirectories'>, session: MuxSession): RunManifest | undefined {
  return world.runDirectories.all().findLast(
    (manifest) =>
      manifest.mux_session === session.name &&
      manifest.dispatched_at <= session.created_at + CREATED_SLACK_MS &&
      (manifest.ended_at === null ||
        session.created_at <= manifest.ended_at ||
        // The clock was turned back while it ran: its end tells nothing of what came before it.
        manifest.ended_at < manifest.dispatched_at),
  );
}

function strayRun(world: World, document: FiberDocument, uid: string, session: MuxSession): Run {
  const agent = agentOf(world, document);
  return {
    key: keyOf(document),
    fiber_id: document.id,
    uid,
    store: document.store,
    path: document.path,
    launch_id: `stray-${session.created_at}-${uid}`,
    run_id: document.svc?.runtime?.run_id ?? `stray-${session.created_at}`,
    mux_session: session.name,
    agent: document.svc?.agent ?? agent?.id ?? 'unknown',
    harness: agent?.harness ?? HARNESS_NAMES[0],
    session_uuid: document.svc?.runtime?.session_uuid ?? null,
    surface: 'cli',
    project_dir: document.project_dir ?? '',
    started_at: session.created_at,
    boot_id: world.bootId,
    state: { kind: 'running', answers: false },
    transcript_path: null,
    last_activity_at: null,
    stray: true,
  };
}

function agentOf(world: Pick<World, 'harness'>, document: FiberDocument): Agent | null {
  for (const id of [document.svc?.agent ?? null, null]) {
    try {
      return world.harness.agent(id);
    } catch (error) {
      if (!isCoded(error, 'agent_unknown')) throw error;
    }
  }
  return null;
}
