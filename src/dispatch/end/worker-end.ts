import type { NamedHold } from '../../config/hold-files.ts';
import type { Death, FiberDocument } from '../../contract/fiber.ts';
import type { SessionLine } from '../../contract/ledger.ts';
import { planConclude } from '../../lifecycle/run-transitions.ts';
import type { RunEnd } from '../holds/breaker.ts';
import type { Refusal } from '../holds/refusals.ts';
import { faultOf } from '../run/app-run.ts';
import type { Run } from '../run/run.ts';
import { endInHand } from '../run/run-state.ts';
import { describeMemoryEnd, isKilledForMemory } from '../run-directory/memory-end.ts';
import type { RecordedEnd } from '../run-directory/run-directories.ts';
import type { EndRecord, ExitRecord, FileRead } from '../run-directory/run-records.ts';
import type { MemoryEnd } from '../run-directory/worker-memory.ts';
import { type DocumentChange, handedOff, timeOf } from '../world/documents.ts';
import { deathOf, tellCleanExit, toldOfDeath } from './death.ts';

/**
 * What is known when a worker has ended; `document` is its last known content, undefined where no store shows one.
 */
export type EndFacts = {
  run: Pick<Run, 'started_at' | 'run_id' | 'fiber_id' | 'state' | 'agent' | 'project_dir' | 'app'>;
  document: FiberDocument | undefined;
  recorded: RecordedEnd;
  /** The multiplexer server itself is gone. */
  server_absent: boolean;
  /** The machine was restarted since. */
  rebooted: boolean;
  /** What its memory group told; null where it was in none. */
  memory: MemoryEnd | null;
  /** Other workers that live on. */
  others: number;
  /** The last that was seen of its screen. */
  screen: string | null;
  /** It went on with an earlier conversation, and that has not grown since. */
  resumed_in_vain: boolean;
  now: number;
};

/** What follows from a worker's end. */
export type EndPlan = {
  /** Why it ended, for the log and the run directory. */
  reason: string;
  /** The same in words, with the likely fix; null for a clean exit, and if somebody brought the end about. */
  death: Death | null;
  /** What the ledger says of the end beside its reason. */
  told: Pick<SessionLine, 'detail' | 'mend' | 'screen'>;
  breaker: RunEnd;
  /** A hold that keeps the poller from starting it again by itself. */
  hold: NamedHold | null;
  /** What kept the run script from starting the agent, or what killed it. */
  refusal: Refusal | null;
  /** A standing role closes into awaiting review (LIF-5), a pinned one is parked. */
  conclude: boolean;
  /** Its conversation could not be resumed: one fresh start replaces it (P7). */
  owes_fresh_start: boolean;
};

/** Ends that prove nothing about the fiber's own health. */
const NOT_ITS_FAULT = ['kill', 'forced_start', 'server_lost', 'reboot'];
/** Ends after which the fiber waits for a person. */
const HOLDS: Readonly<Record<string, NamedHold>> = { kill: 'killed', server_lost: 'server_lost' };
/** Ends that nobody requested. */
const BY_ITSELF = ['exited', 'session_gone'];

/** Decides what follows from a worker's end; reads nothing but its argument. */
export function planWorkerEnd(facts: EndFacts): EndPlan {
  const exit = foundOf(facts.recorded.exit);
  const end = endOf(facts.run, facts.recorded);
  const reason = reasonOf(facts, exit, end);
  const detail =
    reason === 'memory_limit' && facts.memory !== null ? describeMemoryEnd(facts.memory, facts.others) : null;
  const unstarted = refusalOf(facts.run, exit);
  const ended_at = exit?.at ?? end?.at ?? facts.now;
  const lived_ms = Math.max(0, ended_at - facts.run.started_at);
  const owes_fresh_start = facts.resumed_in_vain && BY_ITSELF.includes(reason);
  const clean = !owes_fresh_start && isCleanExit(reason, exit);
  const left = clean && isLeftByPerson(facts.document);
  const death = clean ? null : deathOfEnd(facts, reason, detail, exit, ended_at);
  return {
    reason,
    death,
    told: clean
      ? tellCleanExit(left ? facts.screen : null)
      : { ...toldOfDeath(death), ...(reason === 'handoff' ? {} : tellConversation(facts.run)) },
    breaker:
      unstarted === null ? breakerEnd(facts.document, { reason, clean, lived_ms }) : { kind: 'stopped' },
    hold: left ? 'clean_exit' : (HOLDS[reason] ?? null),
    refusal: detail === null ? unstarted : { reason, message: detail },
    owes_fresh_start,
    conclude:
      !owes_fresh_start && facts.document !== undefined && isConcludable(facts.document, facts.run, exit),
  };
}

/** A conversation that was released has no exit code and no screen: what was wrong with it is all there is to tell. */
function tellConversation({ app }: Pick<Run, 'app'>): Pick<SessionLine, 'detail'> {
  const fault = app === undefined ? null : faultOf(app);
  return fault === null ? {} : { detail: fault };
}

/** True when nothing tells how it ended but that it was hung up on: its server may have gone down. */
export function isWordless(run: Pick<Run, 'state'>, recorded: RecordedEnd): boolean {
  if (endOf(run, recorded) !== null) return false;
  const exit = foundOf(recorded.exit);
  return exit === null || exit.signal === 'SIGHUP';
}

/**
 * True while the document is the one that this run left behind: a role that was dispatched again, or that a
 * person armed again after the worker's end, is left as it is.
 */
export function isConcludable(
  document: FiberDocument,
  run: Pick<Run, 'run_id'>,
  exit: Pick<ExitRecord, 'at'> | null,
): boolean {
  const kind = document.svc?.kind;
  if ((kind !== 'standing' && kind !== 'pinned') || document.status !== 'active') return false;
  const { run_id, handed_off_at } = document.svc?.runtime ?? {};
  if (run_id !== undefined && run_id !== run.run_id) return false;
  const handed = timeOf(handed_off_at);
  return exit === null || handed === null || handed <= exit.at + EXIT_TIME_SLACK_MS;
}

/** True where the document still is that of this run, whose clean exit without a handoff leaves its work undone. */
export function isLeftBy(document: FiberDocument, run: Pick<Run, 'run_id' | 'started_at'>): boolean {
  if (document.svc?.runtime?.run_id !== run.run_id) return false;
  return isLeftByPerson(document) && !handedOffSince(document, run.started_at);
}

/** An end that somebody requested. */
const BROKEN_OFF = { exit: null, faultless: false };

/** True for an end with a handoff, or of an agent that ended with 0. */
export function isFaultless(reason: string, exit: ExitRecord | null): boolean {
  return reason === 'handoff' || isCleanExit(reason, exit);
}

/** What the end of this run writes into the document of its role; nothing for a oneshot. */
export function concludedBy(
  document: FiberDocument,
  run: Pick<Run, 'run_id'>,
  now: number,
  { exit, faultless }: { exit: Pick<ExitRecord, 'at'> | null; faultless: boolean } = BROKEN_OFF,
): DocumentChange {
  const concluded = isConcludable(document, run, exit) ? planConclude(document, { faultless }, now) : null;
  return concluded ?? { set: {}, unset: [] };
}

/** The run script reports whole seconds, and a worker hands off a moment before it exits. */
const EXIT_TIME_SLACK_MS = 2_000;

/** The last word of whoever ended the run on purpose: a kill counts even when a handoff was under way. */
function endOf(run: Pick<Run, 'state'>, recorded: RecordedEnd): EndRecord | null {
  return endInHand(run.state) ?? foundOf(recorded.end);
}

function foundOf<T>(read: FileRead<T>): T | null {
  return read.kind === 'found' ? read.value : null;
}

function reasonOf(facts: EndFacts, exit: ExitRecord | null, end: EndRecord | null): string {
  if (end !== null) return end.reason;
  if (facts.document !== undefined && handedOffSince(facts.document, facts.run.started_at)) return 'handoff';
  if (facts.rebooted) return 'reboot';
  const wordless = exit === null || exit.signal === 'SIGHUP';
  if (wordless && facts.server_absent) return 'server_lost';
  if (exit === null) return 'session_gone';
  if (isKilledForMemory(exit, facts.memory)) return 'memory_limit';
  return exit.reason ?? 'exited';
}

/**
 * True where a clean exit leaves work undone, as after a person’s `/exit` in the agent of a oneshot: agents do not end by
 * themselves, and whoever left one does not want another in its place.
 */
function isLeftByPerson(document: FiberDocument | undefined): boolean {
  return document?.status === 'active' && isOneshot(document);
}

/** An end with 0 and without a handoff. */
export function isCleanExit(reason: string, exit: ExitRecord | null): boolean {
  return reason === 'exited' && exit?.code === 0 && exit.signal === null;
}

function isOneshot(document: FiberDocument | undefined): boolean {
  return document?.svc?.kind !== 'standing' && document?.svc?.kind !== 'pinned';
}

function deathOfEnd(
  { run, recorded, screen }: EndFacts,
  reason: string,
  detail: string | null,
  exit: ExitRecord | null,
  at: number,
): Death | null {
  const unread = recorded.exit.kind === 'unknown' ? recorded.exit.detail : null;
  return deathOf({ run, reason, detail: detail ?? unread, exit, screen, at });
}

function refusalOf(run: EndFacts['run'], exit: ExitRecord | null): Refusal | null {
  if (exit?.reason === 'agent_missing')
    return {
      reason: 'agent_unavailable',
      message: `the program of agent ${run.agent} was not found by its worker; \`svc doctor\` shows what the daemon finds`,
    };
  if (exit?.reason === 'project_dir_missing')
    return {
      reason: 'project_dir_missing',
      message: `the project folder ${run.project_dir} could not be entered by the worker`,
      needs: 'project_dir',
    };
  return null;
}

/** A role that hands off or ends with 0 has done what it was started for. */
function breakerEnd(
  document: FiberDocument | undefined,
  { reason, clean, lived_ms }: { reason: string; clean: boolean; lived_ms: number },
): RunEnd {
  const oneshot = isOneshot(document);
  if (reason === 'handoff') return oneshot ? { kind: 'handed_off', lived_ms } : { kind: 'concluded' };
  if (clean) return { kind: oneshot ? 'stopped' : 'concluded' };
  return NOT_ITS_FAULT.includes(reason) ? { kind: 'stopped' } : { kind: 'died', lived_ms };
}

/** True when its worker handed off after this moment. */
export function handedOffSince(document: FiberDocument, started_at: number): boolean {
  const handed = timeOf(document.svc?.runtime?.handed_off_at);
  return handedOff(document) && handed !== null && handed >= started_at;
}
