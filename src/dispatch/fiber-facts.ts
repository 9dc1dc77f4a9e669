import type { FiberDocument } from '../contract/fiber.ts';
import { type EligibilityFacts, isPendingLaunch, judgeEligibility } from './due/eligibility.ts';
import { owedStart } from './due/owed-starts.ts';
import type { HoldReason } from './due/quarantine.ts';
import { runElsewhere } from './due/run-elsewhere.ts';
import { type Due, standingDue } from './due/standing.ts';
import { limitOf } from './due/usage-limits.ts';
import type { RowFacts } from './feed.ts';
import { keyOf, type Memory } from './memory.ts';
import { viewRun } from './run/runs.ts';
import type { World } from './world.ts';

/** When the role is due, or null for anything but an armed standing role. */
export function dueOf(world: World, document: FiberDocument): Due | null {
  if (document.svc?.kind !== 'standing' || document.status !== 'active') return null;
  return standingDue(document, world.clock.now(), world.zone);
}

/** The facts of one fiber for the eligibility kernel. */
export function eligibilityFacts(world: World, memory: Memory, document: FiberDocument): EligibilityFacts {
  const key = keyOf(document);
  const now = world.clock.now();
  return {
    host: world.host,
    now,
    occupied: memory.launching.has(key) || memory.runs.get(key) !== undefined,
    due: owedStart(memory, document) === null ? dueOf(world, document) : { kind: 'due', occurrence: now },
    paused_until: memory.breaker.pausedUntil(key, now),
    limited_until: limitOf(world, memory, document.svc?.agent ?? null)?.until ?? null,
    held: holdOf(memory, key),
    cooldown_until: memory.refusals.cooldownOf(key),
    mux_answers: memory.mux_answers,
    stopped_all: memory.brake.pulled !== null,
    data_dir_fault: memory.data_dir.fault,
    leased: memory.leases.of(document.store).state === 'held',
    elsewhere: runElsewhere(document, { daemon_id: world.daemonId, now }),
    workers: { count: workerCount(memory), most: memory.most_workers },
    resources: memory.starts.hold(),
  };
}

/** Workers that run, start, or cannot be told to be gone. */
export function workerCount(memory: Memory): number {
  let count = memory.runs.size;
  for (const key of memory.launching) if (memory.runs.get(key) === undefined) count += 1;
  return count;
}

/** Why this fiber waits, or null. */
export function holdOf(memory: Memory, key: string): HoldReason | null {
  return memory.unconcluded.has(key) ? 'not_concluded' : memory.quarantine.holdOf(key);
}

/** What the row of one fiber shows beside its document; `held` only where the hold is what keeps it back. */
export function rowFacts(
  world: World,
  memory: Memory,
  document: FiberDocument,
  due: Due | null,
  facts: EligibilityFacts,
): RowFacts {
  const key = keyOf(document);
  const run = memory.runs.get(key);
  // A copy of a document has its uid too, but the worker is not its worker.
  const own = run !== undefined && (run.path === document.path || !world.documents.isAmbiguous(document));
  const blocked = memory.refusals.get(key);
  const held = isPendingLaunch(document, facts) ? facts.held : null;
  const verdict = document.status === 'active' && !facts.occupied ? judgeEligibility(document, facts) : null;
  return {
    ...(own ? { runtime: viewRun(run, world.clock.now()) } : {}),
    ...(blocked === undefined ? {} : { blocked }),
    ...(held === null ? {} : { held }),
    ...(verdict === null || verdict.eligible || document.svc?.host !== world.host
      ? {}
      : { gate: verdict.gate }),
    ...(due === null || due.kind === 'never'
      ? {}
      : { next_due_at: due.kind === 'due' ? due.occurrence : due.next }),
  };
}
