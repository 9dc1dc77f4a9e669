import { join } from 'node:path';
import { isCoded } from '../../../base/errors.ts';
import type { Agent } from '../../../contract/agent.ts';
import type { FiberDocument } from '../../../contract/fiber.ts';
import type { MuxListing, MuxSession } from '../../../mux/mux.ts';
import { type PaneInSession, panesOf, sessionsOf } from '../../../mux/mux-listing.ts';
import { uidInName } from '../../../mux/session-name.ts';
import type { Memory } from '../../holds/memory.ts';
import { paneOfRun } from '../../run/liveness.ts';
import { type Run, runStarted } from '../../run/run.ts';
import { runOfManifest } from '../../run/runs.ts';
import { writeForeignRun } from '../../run-directory/capture-directory.ts';
import { isLaunchId, RUN_FILES } from '../../run-directory/run-directory.ts';
import { keyOf } from '../../world/documents.ts';
import type { World } from '../../world/world.ts';

/**
 * The runs of fibers of this host that live in panes of ours although no run in memory accounts for them. Where the folder of
 * a run was deleted, its record is written again from the document and the session.
 */
export async function givenUpRuns(
  world: World,
  memory: Pick<Memory, 'runs' | 'starting'>,
  listing: MuxListing,
): Promise<Run[]> {
  const found: Run[] = [];
  for (const made of panesOf(listing)) {
    const { pane } = made;
    if (pane.launch_id === null || pane.dead || !isLaunchId(pane.launch_id)) continue;
    if (memory.runs.all().some(({ launch_id }) => launch_id === pane.launch_id)) continue;
    if (world.runDirectories.manifest(pane.launch_id).kind === 'none')
      await restoreRecord(world, made, pane.launch_id);
    const manifest = world.runDirectories.manifest(pane.launch_id);
    if (manifest.kind !== 'found') continue;
    const run = runOfManifest(manifest.value);
    const document = world.documents.of(manifest.value);
    if (document?.svc?.host !== world.host) continue;
    if (memory.starting.has(run.key) || memory.runs.get(run.key) !== undefined) continue;
    const agent = world.runDirectories.agent(run.launch_id);
    if (agent.kind !== 'found' || (await world.processes.look(agent.value)) !== 'alive') continue;
    runStarted(run);
    found.push(run);
  }
  return found;
}

/** Writes what a run directory would say of a worker whose session still runs; nothing where that is not known. */
async function restoreRecord(
  world: World,
  { session, pane }: PaneInSession,
  launch_id: string,
): Promise<void> {
  const document = world.documents.byUid(uidInName(session.name) ?? '');
  if (document?.svc?.host !== world.host || document.uid === null || !document.project_dir) return;
  // The run script is this process, and ends with its agent.
  const path_of_script = join(world.runDirectories.directory(launch_id), RUN_FILES.script);
  // Another daemon may have made the pane, with a data folder of its own.
  const script = (pane.pid === null ? null : await world.processes.commands(pane.pid))?.find(
    ({ pid, argv }) => pid === pane.pid && argv.includes(path_of_script),
  );
  const agent = agentOf(world, document);
  if (script === undefined || agent === null) return;
  const { id, uid, leaf, store, path, project_dir, svc } = document;
  const { run_id = launch_id, session_uuid = null } = svc.runtime ?? {};
  writeForeignRun(
    world.settings.data_dir,
    {
      ...{ version: 1, launch_id, run_id, fiber: id, uid, leaf, store, path, session_uuid, project_dir },
      ...{ mux_session: session.name, agent: agent.id, harness: agent.harness, surface: 'cli' },
      ...{ dispatched_at: session.created_at, state: 'spawned', ended_at: null, boot_id: world.bootId },
    },
    { process: { pid: script.pid, start_time: script.start_time }, pane: null },
  );
}

function agentOf({ harness }: Pick<World, 'harness'>, { svc }: FiberDocument): Agent | null {
  try {
    return harness.agent(svc?.agent ?? null);
  } catch (error) {
    if (isCoded(error, 'agent_unknown')) return null;
    throw error;
  }
}

/**
 * The sessions that have the name of a worker of a fiber of this host, or had it until one took it, in which nothing that we
 * started runs; by fiber key. A name proves nothing: a person, or a program that restores sessions, may give it to a shell.
 */
export function sessionsNotOurs(
  world: Pick<World, 'documents' | 'host' | 'runDirectories'>,
  { runs }: Pick<Memory, 'runs'>,
  listing: MuxListing,
): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const session of sessionsOf(listing)) {
    const document = world.documents.byUid(uidInName(session.name) ?? '');
    if (document?.svc?.host !== world.host) continue;
    const key = keyOf(document);
    const run = runs.get(key);
    const is_claimed = run !== undefined && paneOfRun(run, listing)?.session.id === session.id;
    if (!is_claimed && !hasOwnPane(world, session)) found.set(key, [...(found.get(key) ?? []), session.name]);
  }
  return found;
}

function hasOwnPane({ runDirectories }: Pick<World, 'runDirectories'>, { panes }: MuxSession): boolean {
  return panes.some(
    ({ dead, launch_id }) =>
      !dead &&
      launch_id !== null &&
      isLaunchId(launch_id) &&
      runDirectories.manifest(launch_id).kind !== 'none',
  );
}
