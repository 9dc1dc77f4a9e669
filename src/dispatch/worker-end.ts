import type { FiberDocument } from '../contract/fiber.ts';
import type { RunEnd } from './breaker.ts';
import type { LaunchEnd } from './launches.ts';
import { handedOff, timeOf } from './markers.ts';
import type { HoldReason } from './quarantine.ts';
import type { EndRecord, ExitRecord, FileRead } from './run-records.ts';
import type { Run } from './runs.ts';

/** What is known when a worker has ended; `document` is undefined when it is gone from the store. */
export type EndFacts = {
  run: Pick<Run, 'started_at'>;
  document: FiberDocument | undefined;
  launch: LaunchEnd;
  /** The multiplexer server itself is gone. */
  server_absent: boolean;
  now: number;
};

/** What follows from a worker's end. */
export type EndPlan = {
  /** Why it ended, for the log and the run directory. */
  reason: string;
  breaker: RunEnd;
  /** A hold that keeps the poller from launching it again by itself. */
  hold: Exclude<HoldReason, 'boot_quarantine'> | null;
  /** A standing role closes into awaiting review (LIF-5). */
  conclude: boolean;
};

/** Decides what follows from a worker's end; reads nothing but its argument. */
export function planWorkerEnd(facts: EndFacts): EndPlan {
  const exit = foundOf(facts.launch.exit);
  const end = foundOf(facts.launch.end);
  const reason = reasonOf(facts, exit, end);
  const ended_at = exit?.at ?? end?.at ?? facts.now;
  const lived_ms = Math.max(0, ended_at - facts.run.started_at);
  return {
    reason,
    breaker: breakerEnd(reason, lived_ms),
    hold: reason === 'kill' ? 'killed' : reason === 'server_lost' ? 'server_lost' : null,
    conclude: shouldConclude(facts),
  };
}

function foundOf<T>(read: FileRead<T>): T | null {
  return read.kind === 'found' ? read.value : null;
}

function reasonOf(facts: EndFacts, exit: ExitRecord | null, end: EndRecord | null): string {
  if (end !== null) return end.reason;
  if (facts.document !== undefined && handedOffSince(facts.document, facts.run.started_at)) return 'handoff';
  if (exit === null) return facts.server_absent ? 'server_lost' : 'session_gone';
  return exit.reason ?? 'exited';
}

function breakerEnd(reason: string, lived_ms: number): RunEnd {
  if (reason === 'handoff') return { kind: 'handed_off' };
  if (reason === 'kill' || reason === 'forced_start' || reason === 'server_lost') return { kind: 'stopped' };
  return { kind: 'died', lived_ms };
}

function shouldConclude(facts: EndFacts): boolean {
  const document = facts.document;
  if (document?.svc?.kind !== 'standing' || document.status !== 'active') return false;
  const dispatched = timeOf(document.svc.runtime?.dispatched_at);
  return dispatched !== null && dispatched >= facts.run.started_at;
}

function handedOffSince(document: FiberDocument, started_at: number): boolean {
  const handed = timeOf(document.svc?.runtime?.handed_off_at);
  return handedOff(document) && handed !== null && handed >= started_at;
}
