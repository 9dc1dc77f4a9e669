import type { ContextUse, Death } from '../../contract/fiber.ts';
import type { HarnessName } from '../../contract/harness-name.ts';
import type { Surface } from '../../contract/surface.ts';
import type { AppPhase } from '../../harness/app-server/conversation.ts';
import type { AppTurn } from '../../harness/app-server/turn.ts';
import type { MuxServer, PaneAddress } from '../../mux/mux.ts';
import type { PhaseSign } from '../run-directory/phase-signs.ts';
import type { AppRecord, ResumeRecord } from '../run-directory/run-records.ts';
import { nextRunState, type RunEvent, type RunState } from './run-state.ts';

/** A worker under the dispatcher's eyes. Times are milliseconds since the Unix epoch. */
export type Run = {
  /** Key of its fiber. */
  key: string;
  fiber_id: string;
  uid: string;
  store: string;
  path: string;
  launch_id: string;
  run_id: string;
  mux_session: string;
  agent: string;
  harness: HarnessName;
  session_uuid: string | null;
  surface: Surface;
  project_dir: string;
  /** The folder that its changes go to together with those of others; absent until it was looked at. */
  work_tree?: string;
  started_at: number;
  /** Whether a person or program asked for the start, or the poller saw it due; absent for a claim and where that was not recorded. */
  by_request?: boolean;
  /** Of the text that was asked for with the start, and is in its prompt. */
  message_id?: string;
  /** Boot of the machine it belongs to; null where the OS does not tell. */
  boot_id: string | null;
  /** How far it has come; only `moveRun` changes it. */
  state: RunState;
  transcript_path: string | null;
  last_activity_at: number | null;
  /** How full its context was when its transcript was last read for that; absent until then. */
  context?: ContextUse | null;
  /** What its hooks told last; absent until they told something. */
  sign?: PhaseSign;
  /** Claimed and not dispatched: a capture of ours, or a session that a person started. */
  claim?: 'capture' | 'person';
  /** Present on the app surface; no multiplexer session then has the name in `mux_session`. */
  app?: AppRun;
  /** Present when it went on with an earlier conversation. */
  resume?: ResumeRecord;
  /** Sessions that it was in before `session_uuid`. */
  left_sessions?: string[];
  /** When it was told, once, that its fiber was not closed. */
  nudged_at?: number;
  /** How it died, or null for another end; absent until its end is settled. */
  death?: Death | null;
  /** The pane that its agent runs in; absent until it was seen. */
  pane?: PaneAddress;
  /** The multiplexer server that listed its session; absent until one did. */
  server?: MuxServer;
  /** True once it is certain that its document was removed from the stores. */
  document_removed?: true;
};

/** What a run knows of its app conversation: what its run directory keeps, and what was seen last. */
export type AppRun = AppRecord & {
  phase: AppPhase;
  /** The server was asked for that very conversation and says that there is none (P15). */
  missing: boolean;
  desktop_link: string | null;
  /** How its last turn ended; null while one runs, and where that is not known. */
  last_turn: AppTurn | null;
};

/** A run on the app surface. */
export type AppSurfaceRun = Run & { app: AppRun };

/** Takes an event into the state of a run. */
export function moveRun(run: Pick<Run, 'state'>, event: RunEvent): void {
  run.state = nextRunState(run.state, event);
}

/**
 * False where no transcript has to be waited for: a person's session had a conversation long before it was claimed, and an
 * app conversation has no start to watch.
 */
export function awaitsTranscript({ claim, app }: Pick<Run, 'claim' | 'app'>): boolean {
  return claim !== 'person' && app === undefined;
}

/** The start of a run has come about. */
export function runStarted(run: Run): void {
  moveRun(run, { kind: 'started', confirmed: !awaitsTranscript(run) });
}
