import type { RunView } from '../../contract/fiber.ts';
import type { AppRecord } from '../run-directory/run-records.ts';
import type { AppRun, AppSurfaceRun, Run } from './run.ts';
import { type RunPhase, UNKNOWN_PHASE } from './run-phase.ts';
import { isStarted, isStarting } from './run-state.ts';

export function isAppRun(run: Run): run is AppSurfaceRun {
  return run.app !== undefined;
}

/** The run of a record, before anything was seen of its conversation. */
export function appRunOf(record: AppRecord): AppRun {
  return { ...record, phase: 'unknown', missing: false, desktop_link: null, last_turn: null };
}

/** How a start marks the conversation that it begins, so that it is found again after a crash. */
export function sourceOf(launch_id: string): string {
  return `svc-${launch_id}`;
}

/** Placeholder in a rehearsal for the id that the app server assigns when it begins a conversation. */
export const NEW_CONVERSATION = '<conversation>';

/** True while a conversation belongs to the fiber although its first turn is not known to have begun (CAP-8). */
export function isReserved(run: Run): boolean {
  return run.app !== undefined && run.app.turn !== 'confirmed' && !isStarting(run.state);
}

/** What app responses and rows carry beside the fields that both surfaces have (CAP-5, WRK-4 to WRK-7). */
export type AppIdentity = {
  thread_id: string | null;
  transcript_session_uuid: string | null;
  project_id: string | null;
  desktop_link?: string;
};

export function appIdentity(run: Pick<Run, 'app'>): AppIdentity | Record<string, never> {
  if (run.app === undefined) return {};
  const { thread_id, transcript_session_uuid, project_id, desktop_link } = run.app;
  return {
    thread_id,
    transcript_session_uuid,
    project_id,
    ...(desktop_link === null ? {} : { desktop_link }),
  };
}

/** The run of an app conversation as a row shows it: a state that is not known is never guessed (APP-1). */
export function appRunState(run: AppSurfaceRun): Pick<RunView, 'state'> & RunPhase {
  const seen = run.app.phase !== 'unknown' && !run.app.missing;
  if (!isStarted(run.state)) return { state: 'claimed', ...UNKNOWN_PHASE };
  if (!seen) return { state: 'unknown', ...UNKNOWN_PHASE };
  return {
    state: 'running',
    phase: hasFailed(run.app) ? 'attention' : run.app.phase,
    phase_since: run.last_activity_at,
    phase_source: 'app',
    said: run.app.last_turn?.error ?? run.app.last_turn?.said ?? null,
  };
}

/** True where no turn runs and the last one failed; a restarted app server reports such a conversation as waiting. */
function hasFailed({ phase, last_turn }: AppRun): boolean {
  return phase !== 'working' && last_turn?.failed === true;
}

/** Why its conversation does not go on by itself, as a phrase; null while nothing is wrong with it. */
export function faultOf(app: AppRun): string | null {
  if (app.missing)
    return 'the app server was asked for its conversation and has none, and how its last turn ended is not known';
  if (!hasFailed(app)) return null;
  return `its last turn failed: ${app.last_turn?.error ?? 'the app server does not say why'}`;
}

export function recordOf(app: AppRun): AppRecord {
  const { thread_id, transcript_session_uuid, project_id, turn, resumed, effort } = app;
  return { thread_id, transcript_session_uuid, project_id, turn, resumed, effort };
}
