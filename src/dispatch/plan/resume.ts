import type { FiberDocument } from '../../contract/fiber.ts';
import type { HarnessName } from '../../contract/harness-name.ts';
import { DEFAULT_SURFACE, SURFACE_RULES } from '../../contract/surface.ts';
import type { TranscriptProbe } from '../../harness/adapter.ts';
import type { ResumeMode } from '../run/run-id.ts';
import { handedOff, timeOf } from '../world/documents.ts';
import type { PreviousSession } from './prompt.ts';

/** The conversation that the last dispatch of a fiber left, as its document, run directory and hooks tell. */
type PreviousConversation = {
  session_uuid: string;
  harness: HarnessName;
  /** Host that it ran on; null when nothing tells. */
  host: string | null;
};

/** Everything the decision reads. Times and spans in milliseconds. */
export type ResumeFacts = {
  /** As it is before the start marks or arms it. */
  document: FiberDocument;
  /** Null if no dispatch has left a conversation. */
  previous: PreviousConversation | null;
  /** The transcript of that conversation. */
  transcript: TranscriptProbe;
  mode: ResumeMode | null;
  /** This host, and the harness of the agent that is about to start. */
  host: string;
  harness: HarnessName;
  /** The agent that is about to start keeps its conversations where this one is, and starts in its folder. */
  reachable: boolean;
  /** How its run ended, by its run directory; null if that is unknown. */
  end: { at: number; handed_off: boolean } | null;
  /** The fiber was seen closed when its run had ended, or later. */
  seen_closed: boolean;
  /** A running worker is cut for this start. */
  cuts: boolean;
  /** The last start resumed this conversation, and ended without its transcript having grown. */
  resumed_in_vain: boolean;
  /** Its `resume-<uuid>` session is open (RES-9); null when the multiplexer did not answer. */
  open_in_resume: boolean | null;
  warm_window_ms: number;
  now: number;
};

/** Why a start starts fresh. */
export const FRESH_REASONS = [
  'first',
  'handed_off',
  'resumed_in_vain',
  'not_of_dispatch',
  'asked',
  'role',
  'cut',
  'closed',
  'other_harness',
  'out_of_reach',
  'other_host',
  'unknown',
  'absent',
  'cold',
] as const;
type FreshReason = (typeof FRESH_REASONS)[number];

export type ResumeDecision =
  | { kind: 'resume'; session_uuid: string }
  | { kind: 'fresh'; why: FreshReason; previous: PreviousSession | null }
  | { kind: 'refused'; reason: 'session_open_in_resume' | 'mux_unavailable'; session_uuid: string };

/**
 * Whether a start continues the fiber's previous conversation or starts fresh (RES-1 to RES-9, P7). Reads
 * nothing but its argument.
 */
export function decideResume(facts: ResumeFacts): ResumeDecision {
  const { previous } = facts;
  if (previous === null) return { kind: 'fresh', why: 'first', previous: null };
  const why = freshBecause(facts, previous);
  if (why === null) return resumeUnlessOpen(facts, previous.session_uuid);
  return { kind: 'fresh', why, previous: why === 'not_of_dispatch' ? null : named(facts, previous) };
}

function freshBecause(facts: ResumeFacts, previous: PreviousConversation): FreshReason | null {
  const { document, mode } = facts;
  // A mode cannot request what the program does not support.
  if (mode === 'previous') return cannotContinue(facts, previous);
  if (workerHandedOff(facts)) return 'handed_off';
  if (facts.resumed_in_vain) return 'resumed_in_vain';
  const checked = SURFACE_RULES[document.svc?.surface ?? DEFAULT_SURFACE].in_terminal;
  if (checked && isOlderThanDispatch(facts)) return 'not_of_dispatch';
  if (mode === 'fresh') return 'asked';
  if (mode === null) {
    if ((document.svc?.kind ?? 'oneshot') !== 'oneshot') return 'role';
    if (facts.cuts) return 'cut';
  }
  if (isArmedAgain(facts) || (mode === null && wasClosed(facts))) return 'closed';
  return cannotContinue(facts, previous) ?? (checked ? unfitTranscript(facts) : null);
}

/**
 * Closing a fiber ends its conversation, whatever arms the fiber again (RES-8): a dispatch finds it closed; an edit by hand
 * leaves `closed-at`, or its run directory tells.
 */
function wasClosed({ document, end, seen_closed }: ResumeFacts): boolean {
  if (document.status === 'closed' || seen_closed) return true;
  const closed = timeOf(document.closed_at);
  // Armed again while its worker ran, the fiber was given back to that worker.
  const since = end?.at ?? timeOf(document.svc?.runtime?.dispatched_at);
  return closed !== null && (since === null || closed > since);
}

function workerHandedOff({ document, end }: ResumeFacts): boolean {
  return handedOff(document) && end?.handed_off !== false;
}

/** The timestamp is not the worker's: a verb left it when it armed the fiber again (LIF-6). */
function isArmedAgain({ document, end }: ResumeFacts): boolean {
  return handedOff(document) && end?.handed_off === false;
}

function cannotContinue(facts: ResumeFacts, previous: PreviousConversation): FreshReason | null {
  if (previous.harness !== facts.harness) return 'other_harness';
  if (previous.host !== null && previous.host !== facts.host) return 'other_host';
  return facts.reachable ? null : 'out_of_reach';
}

/** A disk that does not answer is not an absent transcript, but nothing is resumed on a guess (RES-3). */
function unfitTranscript({ transcript, now, warm_window_ms }: ResumeFacts): FreshReason | null {
  if (transcript.kind === 'unknown') return 'unknown';
  if (transcript.kind === 'missing') return 'absent';
  return now - transcript.mtime_ms <= warm_window_ms ? null : 'cold';
}

/** A transcript last written before the dispatch is not that dispatch's session (RES-4). */
function isOlderThanDispatch({ document, transcript }: ResumeFacts): boolean {
  const dispatched = timeOf(document.svc?.runtime?.dispatched_at);
  return transcript.kind === 'found' && dispatched !== null && transcript.mtime_ms < dispatched;
}

function resumeUnlessOpen({ open_in_resume }: ResumeFacts, session_uuid: string): ResumeDecision {
  if (open_in_resume === null) return { kind: 'refused', reason: 'mux_unavailable', session_uuid };
  if (open_in_resume) return { kind: 'refused', reason: 'session_open_in_resume', session_uuid };
  return { kind: 'resume', session_uuid };
}

/** The previous conversation as the launch message names it (PRM-5). */
function named(facts: ResumeFacts, { session_uuid, harness }: PreviousConversation): PreviousSession {
  const { transcript } = facts;
  const cut_off = !workerHandedOff(facts);
  if (!cut_off) return { session_uuid, harness, cut_off, transcript: null };
  return {
    session_uuid,
    harness,
    cut_off,
    transcript: transcript.kind === 'found' ? transcript.path : null,
    ...(transcript.kind === 'unknown' ? { doubt: transcript.detail } : {}),
  };
}
