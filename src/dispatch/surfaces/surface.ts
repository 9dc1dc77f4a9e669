import type { Agent } from '../../contract/agent.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import type {
  Captured,
  CaptureRefused,
  CaptureView,
  Claimed,
  ClaimRequest,
} from '../../contract/http/capture.ts';
import type { Rehearsal } from '../../contract/http/rehearsal.ts';
import type { AskedCapture } from '../claims/capture-checks.ts';
import type { Refusal } from '../holds/refusals.ts';
import type { Conversation } from '../plan/conversation.ts';
import type { PlannedRun, StartOutcome } from '../plan/planned-run.ts';
import type { Run } from '../run/run.ts';
import type { Authority } from '../run/run-id.ts';
import type { CaptureRecord } from '../run-directory/capture-directory.ts';
import type { DocumentChange } from '../world/documents.ts';
import type { World } from '../world/world.ts';
import type { Answer } from '../world/write.ts';

/** The part of a planned start that only its surface knows. */
export type ShownStart = {
  /** Words before the agent in the sentence that says what is started. */
  what: string;
  command: Rehearsal['command'];
  /** What the document is told beside the marks of every start. */
  names: DocumentChange['set'];
  minted: Rehearsal['minted'];
};

/** Starts with an unknown outcome, which are continued and never repeated. */
type ReservedStarts = {
  /** What else the worker is to be told is a message to it, since its conversation does not tell what it has of a start. */
  goOn(world: World, run: Run): Promise<StartOutcome>;
  /** What `goOn` would do now. */
  show(
    world: World,
    document: FiberDocument,
    run: Run,
  ): Promise<Rehearsal | { kind: 'refused'; refusal: Refusal }>;
};

/** How workers are started on one surface. */
export type SurfaceStarts = {
  /** Why this surface cannot serve a start of this agent now; null when it can. */
  refuse(world: World, fiber: { id: string }, agent: Agent): Promise<Refusal | null>;
  /** What the run has beside what runs of every surface have. */
  fields(
    checked: { effort: string | null; conversation: Conversation },
    user_message: string | null,
  ): Pick<Run, 'app' | 'resume'>;
  start(
    world: World,
    document: FiberDocument,
    planned: PlannedRun,
    authority: Authority,
    confirmed_dir: string | undefined,
  ): Promise<StartOutcome>;
  show(world: World, document: FiberDocument, planned: PlannedRun): ShownStart;
  reserved: ReservedStarts | null;
  /** Why the state of a run cannot be determined; null when it can. */
  unserved(world: World): Promise<Refusal | null>;
  /** Why a fiber with this run is not started, if the surface knows more than that it runs. */
  explain(id: string, run: Run, unserved: Refusal | null): { message: string; mend: string } | null;
};

/** The runs and captures of one surface in this daemon. */
export type OpenSurface = {
  captures: {
    capture<Q extends AskedCapture>(
      asked: Q,
    ): Promise<Answer<Q, Rehearsal | CaptureRefused, Captured | CaptureRefused>>;
    byConversation(id: string): CaptureRecord | undefined;
    view(): CaptureView[];
    /** Takes an ended capture off the list. */
    dismiss(run_id: string): void;
    /** Removes those whose text is kept no longer, as it was at this time of a clock that is believed. */
    removeOld(now: number): void;
    /** Resolves when no start is in progress. */
    settled(): Promise<void>;
  };
  claims: { claim<Q extends ClaimRequest>(asked: Q): Promise<Answer<Q, Rehearsal, Claimed>> };
  /** Ends a run on request; what to tell where it was not seen to end, else null. */
  cut(run: Run, reason: 'kill' | 'forced_start'): Promise<string | null>;
  /** Ends the captures without a fiber, or the `only` one in that session; the sessions of those that were seen to end. */
  endCaptures(only?: string): Promise<string[]>;
  /** Compares the runs of this surface with their server, for a surface without the multiplexer. */
  watch(): Promise<void>;
};
