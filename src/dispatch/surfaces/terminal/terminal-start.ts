import type { FiberDocument } from '../../../contract/fiber.ts';
import { worktreeOf } from '../../../lifecycle/planned-edit.ts';
import { freeName } from '../../../mux/set-aside.ts';
import { killCommand } from '../../../platform/tmux-command.ts';
import { abandonClaim, markStart } from '../../edits/start-markers.ts';
import type { Refusal } from '../../holds/refusals.ts';
import type { PlannedRun, StartOutcome } from '../../plan/planned-run.ts';
import { paneOfRun } from '../../run/liveness.ts';
import { type Run, runStarted } from '../../run/run.ts';
import type { Authority } from '../../run/run-id.ts';
import { recordDispatch } from '../../run/run-ledger.ts';
import { manifestOfRun, workerVariables } from '../../run/runs.ts';
import { buildRunScript } from '../../run-directory/run-script.ts';
import type { World } from '../../world/world.ts';
import { createSession } from './create-session.ts';

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
): Promise<StartOutcome> {
  const { run } = planned;
  if (!(await freeName(world, run.mux_session))) return { kind: 'refused', refusal: nameTaken(world, run) };
  world.runDirectories.claim(composeStart(world, document, planned).claim);
  await markStart(world, document, run, authority, confirmed_dir);
  const created = await openSession(world, run);
  if (created.kind !== 'started') {
    if (created.kind === 'refused') await abandonClaim(world, run);
    return created;
  }
  recordDispatch(world, run);
  world.runDirectories.update(run.launch_id, { state: 'spawned' });
  runStarted(run);
  return created;
}

/** A session whose start failed may be there all the same: only what was seen to be missing is a refusal. */
async function openSession(
  world: Pick<World, 'mux' | 'runDirectories' | 'settings'>,
  run: Run,
): Promise<StartOutcome> {
  const created = await createSession(world, run);
  if (created.kind === 'created') return { kind: 'started', run };
  if (created.kind === 'duplicate') return { kind: 'refused', refusal: nameTaken(world, run) };
  const refusal = { reason: created.code, message: created.detail };
  const listing = await world.mux.list();
  if (listing.kind === 'unknown') return { kind: 'uncertain', refusal };
  const ran =
    world.runDirectories.agent(run.launch_id).kind !== 'none' ||
    world.runDirectories.readEnd(run.launch_id).exit.kind !== 'none';
  const listed = paneOfRun(run, listing) !== undefined;
  return listed || ran ? { kind: 'started', run } : { kind: 'refused', refusal };
}

function nameTaken({ settings }: Pick<World, 'settings'>, { mux_session }: Run): Refusal {
  return {
    reason: 'session_name_taken',
    message: `the tmux session ${mux_session} is there, and a worker that this daemon did not start, or that is about to end, runs in it; end it with: ${killCommand(settings.tmux_socket, mux_session)}`,
  };
}

/** What a start writes into its run directory and hands to its worker; nothing is written yet. */
export function composeStart(
  world: Pick<World, 'runDirectories' | 'settings' | 'workerEnv'>,
  document: FiberDocument,
  planned: PlannedRun,
): { claim: Parameters<World['runDirectories']['claim']>[0]; env: Record<string, string> } {
  const { run, prompt, plan } = planned;
  const run_dir = world.runDirectories.directory(run.launch_id);
  const env = { ...world.workerEnv, ...plan.env, ...workerVariables(run, run_dir) };
  const script = buildRunScript({
    run_dir,
    project_dir: run.project_dir,
    argv: plan.argv,
    prompt_bytes: Buffer.byteLength(prompt),
    prompt_on_stdin: plan.prompt_on_stdin,
    memory: planned.memory,
    own_worktree: worktreeOf(document) !== null,
    nice: world.settings.worker_nice,
    env,
  });
  const manifest = manifestOfRun(run, document.leaf);
  return { claim: { manifest, prompt, script, files: plan.files }, env };
}
