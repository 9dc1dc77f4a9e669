import { shellWord } from '../../base/shell-word.ts';
import type { RunView } from '../../contract/fiber.ts';
import { SURFACE_RULES } from '../../contract/surface.ts';
import type { RunManifest } from '../run-directory/run-records.ts';
import type { World } from '../world/world.ts';
import { appIdentity, appRunOf, appRunState, isAppRun, recordOf } from './app-run.ts';
import { moveRun, type Run, runStarted } from './run.ts';
import { phaseOf, UNKNOWN_PHASE } from './run-phase.ts';
import { shownState } from './run-state.ts';

/** What a person may call this worker. */
export function workerName(run: Run): string {
  return muxSessionOf(run) ?? `conversation ${run.app?.thread_id ?? run.launch_id}`;
}

/** What a person is told of a worker that was to be ended and was not seen to end. */
export function mayStillRun(run: Pick<Run, 'mux_session' | 'fiber_id'>): string {
  return `the worker ${run.mux_session} may still run, since its end could not be confirmed; look at it with \`svc attach ${shellWord(run.fiber_id)}\``;
}

/** The run as a row of the feed shows it. */
export function viewRun(run: Run, now: number): RunView {
  const { sign = null, last_activity_at, started_at } = run;
  const state = shownState(run.state);
  return {
    mux_session: muxSessionOf(run),
    surface: run.surface,
    agent: run.agent,
    harness: run.harness,
    session_uuid: run.session_uuid,
    state,
    ...(state === 'running' ? phaseOf({ sign, last_activity_at, started_at, now }) : UNKNOWN_PHASE),
    ...(isAppRun(run) ? appRunState(run) : {}),
    run_id: run.run_id,
    started_at: run.started_at,
    last_activity_at: run.last_activity_at,
    context: run.context ?? null,
    ...appIdentity(run),
  };
}

/** How every answer names the worker of a fiber, on either surface (CAP-5, WRK-1). */
export function workerIdentity(host: string, run: Run) {
  const { fiber_id, surface, session_uuid, run_id, agent, harness } = run;
  return {
    ...{ fiber_id, host, surface, mux_session: muxSessionOf(run) },
    ...{ session_uuid, run_id, agent, harness, ...appIdentity(run) },
  };
}

/** The worker's session; an app conversation has none (WRK-2). */
export function muxSessionOf(run: Pick<Run, 'mux_session' | 'surface'>): string | null {
  return SURFACE_RULES[run.surface].in_terminal ? run.mux_session : null;
}

/** The run that a start of an earlier daemon left, as nothing is known of it yet. */
export function runOfManifest(manifest: RunManifest): Run {
  const run: Run = {
    key: manifest.uid,
    fiber_id: manifest.fiber,
    uid: manifest.uid,
    store: manifest.store,
    path: manifest.path,
    launch_id: manifest.launch_id,
    run_id: manifest.run_id,
    mux_session: manifest.mux_session,
    agent: manifest.agent,
    harness: manifest.harness,
    session_uuid: manifest.session_uuid,
    surface: manifest.surface,
    project_dir: manifest.project_dir,
    ...(manifest.work_tree === undefined ? {} : { work_tree: manifest.work_tree }),
    started_at: manifest.dispatched_at,
    ...(manifest.by_request === undefined ? {} : { by_request: manifest.by_request }),
    ...(manifest.message_id === undefined ? {} : { message_id: manifest.message_id }),
    boot_id: manifest.boot_id,
    state: { kind: 'claimed', answers: false },
    transcript_path: null,
    last_activity_at: null,
    ...(manifest.claim === undefined ? {} : { claim: manifest.claim }),
    ...(manifest.nudged_at === undefined ? {} : { nudged_at: manifest.nudged_at }),
    ...(manifest.app === undefined ? {} : { app: appRunOf(manifest.app) }),
    ...(manifest.resume === undefined ? {} : { resume: manifest.resume }),
    ...(manifest.left_sessions === undefined ? {} : { left_sessions: manifest.left_sessions }),
    ...(manifest.pane === undefined ? {} : { pane: manifest.pane }),
    ...(manifest.server === undefined ? {} : { server: manifest.server }),
  };
  if (manifest.state !== 'claimed') runStarted(run);
  if (manifest.confirmed === true) moveRun(run, { kind: 'confirmed' });
  return run;
}

/** The record of a run that is claimed and not started yet; `runOfManifest` reads it back. */
export function manifestOfRun(run: Run, leaf: string): RunManifest {
  return {
    version: 1,
    launch_id: run.launch_id,
    run_id: run.run_id,
    fiber: run.fiber_id,
    uid: run.uid,
    leaf,
    store: run.store,
    path: run.path,
    mux_session: run.mux_session,
    agent: run.agent,
    harness: run.harness,
    session_uuid: run.session_uuid,
    surface: run.surface,
    project_dir: run.project_dir,
    ...(run.work_tree === undefined ? {} : { work_tree: run.work_tree }),
    dispatched_at: run.started_at,
    ...(run.by_request === undefined ? {} : { by_request: run.by_request }),
    ...(run.message_id === undefined ? {} : { message_id: run.message_id }),
    state: 'claimed',
    ended_at: null,
    boot_id: run.boot_id,
    ...(run.app === undefined ? {} : { app: recordOf(run.app) }),
    ...(run.resume === undefined ? {} : { resume: run.resume }),
  };
}

/** Workers by fiber key: at most one each, claimed synchronously before anything is awaited (P13). */
export class Runs {
  #byKey = new Map<string, Run>();

  get size(): number {
    return this.#byKey.size;
  }

  /** A document that shares its uid has its path for a key, and the worker that was started for it is still its own. */
  get(key: string): Run | undefined {
    const known = this.#byKey.get(key);
    if (known !== undefined || !key.startsWith('/')) return known;
    for (const run of this.#byKey.values()) if (run.path === key) return run;
    return undefined;
  }

  /** False when the fiber already has a worker. */
  claim(run: Run): boolean {
    if (this.#byKey.has(run.key)) return false;
    this.#byKey.set(run.key, run);
    return true;
  }

  /** Frees the fiber, unless another run has taken its place. */
  release(run: Run): void {
    if (this.#byKey.get(run.key)?.launch_id === run.launch_id) this.#byKey.delete(run.key);
  }

  all(): Run[] {
    return [...this.#byKey.values()];
  }
}

/**
 * A worker stays that of its fiber when the document is moved, by whomever: its run learns the new place. Answers the paths
 * that runs have learned now.
 */
export function followDocuments(world: Pick<World, 'documents' | 'runDirectories'>, runs: Runs): string[] {
  const learned: string[] = [];
  for (const run of runs.all()) {
    const document = world.documents.of(run);
    if (document === undefined) continue;
    const { id, path, store } = document;
    if (run.fiber_id === id && run.path === path && run.store === store) continue;
    Object.assign(run, { fiber_id: id, path, store });
    world.runDirectories.update(run.launch_id, { fiber: id, path, store });
    learned.push(path);
  }
  return learned;
}

/** What tells a worker's shell which run it is in; `svc handoff` reads them. */
export function workerVariables(
  run: Pick<Run, 'fiber_id' | 'uid' | 'store' | 'run_id' | 'harness' | 'surface'>,
  run_dir: string,
): Record<string, string> {
  return {
    SVC_FIBER: run.fiber_id,
    SVC_FIBER_UID: run.uid,
    SVC_STORE: run.store,
    SVC_RUN_ID: run.run_id,
    SVC_RUN_DIR: run_dir,
    SVC_HARNESS: run.harness,
    SVC_SURFACE: run.surface,
  };
}
