import { CodedError, messageOf } from '../../base/errors.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import { planArm, planDispatch } from '../../lifecycle/run-transitions.ts';
import type { Run } from '../run/run.ts';
import type { Authority } from '../run/run-id.ts';
import type { DocumentChange } from '../world/documents.ts';
import type { World } from '../world/world.ts';

/**
 * What one start writes into its document, in one write: the dispatch markers (FIB-9) and, on request, the
 * arming (LIF-3, LIF-4) with the directory that a person confirmed (WPL-1). `checked` is the document that
 * the start was judged and planned on; a `current` that orders something else by now is a `conflict`.
 */
export function markersOf(
  checked: FiberDocument,
  current: FiberDocument,
  run: Run,
  authority: Authority,
  options: { daemon: string; confirmed_dir: string | undefined },
): DocumentChange {
  const { daemon, confirmed_dir } = options;
  if (authority.kind === 'poll' && !isArmed(current))
    throw new CodedError('conflict', `${current.id} is no longer armed`);
  if (orderOf(current) !== orderOf(checked))
    throw new CodedError('conflict', `${current.id} was changed while its worker was being started`);
  const arming =
    authority.kind === 'poll'
      ? null
      : planArm(current, confirmed_dir === undefined ? {} : { project_dir: confirmed_dir });
  const marked = planDispatch(
    current,
    {
      session_uuid: run.session_uuid,
      harness: run.harness,
      run_id: run.run_id,
      daemon,
      ...(run.app?.thread_id == null ? {} : { thread_id: run.app.thread_id }),
    },
    run.started_at,
  );
  const agent = authority.agent ?? null;
  return {
    set: { ...arming?.set, ...marked.set, ...(agent === null ? {} : { 'svc.agent': agent }) },
    unset: [
      ...(arming?.unset ?? []),
      ...marked.unset,
      // It is a level of the agent before.
      ...(agent === null || current.svc?.effort === undefined ? [] : ['svc.effort']),
    ],
  };
}

/** The document as it is once a start has given it another agent. */
export function givenAgent(document: FiberDocument, agent: string | null): FiberDocument {
  if (agent === null) return document;
  const { effort: _, ...svc } = document.svc ?? {};
  return { ...document, svc: { ...svc, agent } };
}

/** As the poller's gates have it: only of a standing role a verdict says that it is done (DSP-2, STD-1). */
function isArmed({ status, svc, tempered }: FiberDocument): boolean {
  return status === 'active' && (svc?.kind !== 'standing' || tempered === undefined);
}

/** The change that brings back what `change` is about to overwrite in `document`. */
export function undoOf(document: FiberDocument, change: DocumentChange): DocumentChange {
  const undo: DocumentChange = { set: {}, unset: [] };
  for (const path of [...Object.keys(change.set), ...change.unset]) {
    const value = valueAt(document, path);
    if (value === undefined) undo.unset.push(path);
    else undo.set[path] = value;
  }
  return undo;
}

/** Everything in a document that decides what is started, and where. */
function orderOf(document: FiberDocument): string {
  const { svc } = document;
  return JSON.stringify([
    document.uid,
    document.error ?? null,
    svc?.host ?? null,
    svc?.kind ?? null,
    svc?.agent ?? null,
    svc?.effort ?? null,
    svc?.surface ?? null,
    document.project_dir ?? null,
  ]);
}

function valueAt(document: FiberDocument, path: string): unknown {
  if (path === 'closed-at') return document.closed_at;
  let value: unknown = document;
  for (const key of path.split('.')) {
    value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  }
  return value;
}

/**
 * Marks a claimed start in its document, with what the document said before noted in the run directory first. Where the
 * document cannot be written the claim is taken back, and the error is thrown.
 */
export async function markStart(
  world: Pick<World, 'cli' | 'clock' | 'daemonId' | 'documents' | 'runDirectories' | 'logger'>,
  document: FiberDocument,
  run: Run,
  authority: Authority,
  confirmed_dir: string | undefined,
): Promise<void> {
  try {
    await reopenByCli(world, document, authority);
    await world.documents.change(document, (current) => {
      const change = markersOf(document, current, run, authority, {
        daemon: world.daemonId,
        confirmed_dir,
      });
      world.runDirectories.update(run.launch_id, { undo: undoOf(current, change) });
      return change;
    });
  } catch (error) {
    await abandonClaim(world, run);
    throw error;
  }
}

/** A dispatch reopens a closed fiber by the reopen verb of the program of `SVC_CLI` (LIF-4). */
async function reopenByCli(
  { cli }: Pick<World, 'cli'>,
  { id, uid, store, status }: FiberDocument,
  authority: Authority,
): Promise<void> {
  if (cli === null || status !== 'closed' || authority.kind === 'poll') return;
  const answer = await cli.run({ action: 'reopen', fiber: uid ?? id, store });
  if (answer.status !== 0) throw new CodedError('arm_refused', answer.text.trim());
}

/** Writes back what the start had marked in its document, and closes its run directory. */
export async function abandonClaim(
  world: Pick<World, 'clock' | 'documents' | 'runDirectories' | 'logger'>,
  run: Pick<Run, 'fiber_id' | 'launch_id' | 'path' | 'run_id' | 'uid'>,
): Promise<void> {
  const manifest = world.runDirectories.manifest(run.launch_id);
  const undo = manifest.kind === 'found' ? manifest.value.undo : undefined;
  const document = world.documents.of(run);
  if (undo !== undefined && document !== undefined) {
    try {
      await world.documents.change(document, (current) =>
        current.svc?.runtime?.run_id === run.run_id ? undo : { set: {}, unset: [] },
      );
    } catch (error) {
      world.logger.warn(
        { fiber: run.fiber_id, detail: messageOf(error) },
        'the marks of a launch that did not come about stay in the document',
      );
    }
  }
  // Its text was given to nobody.
  const change = { state: 'ended' as const, ended_at: world.clock.now(), message_id: undefined };
  world.runDirectories.update(run.launch_id, change);
}
