import type { FiberDocument } from '../contract/fiber.ts';
import type { BreakerBook } from './breaker-book.ts';
import type { EligibilityFacts } from './eligibility.ts';
import type { RowFacts } from './feed.ts';
import { type OwedStart, owedStart } from './owed-starts.ts';
import type { HoldReason, Quarantine } from './quarantine.ts';
import type { Refusals } from './refusals.ts';
import { type Run, type Runs, viewRun } from './runs.ts';
import { type Due, standingDue } from './standing.ts';
import type { World } from './world.ts';

/** What the dispatcher remembers of each fiber, by fiber key. */
export type Memory = {
  runs: Runs;
  refusals: Refusals;
  quarantine: Quarantine;
  breaker: BreakerBook;
  /** Launches under way: the fiber is claimed although it has no run yet. */
  launching: Set<string>;
  /** Ended runs whose documents could not be written yet: their fibers wait until they can be. */
  unconcluded: Map<string, Run>;
  /** Fresh starts that launches which resumed in vain still owe (P7). */
  owed: Map<string, OwedStart>;
};

/** A fiber's key: its uid, or its file where it has none. */
export function keyOf(document: FiberDocument): string {
  return document.uid ?? document.path;
}

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
    held: holdOf(memory, key),
    cooldown_until: memory.refusals.cooldownOf(key),
  };
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
  pending: boolean,
): RowFacts {
  const key = keyOf(document);
  const run = memory.runs.get(key);
  // A copy of a document has its uid too, but the worker is not its worker.
  const own = run !== undefined && (run.path === document.path || !world.documents.isAmbiguous(document));
  const blocked = memory.refusals.get(key);
  const held = pending ? holdOf(memory, key) : null;
  return {
    ...(own ? { runtime: viewRun(run, world.clock.now()) } : {}),
    ...(blocked === undefined ? {} : { blocked }),
    ...(held === null ? {} : { held }),
    ...(due === null || due.kind === 'never'
      ? {}
      : { next_due_at: due.kind === 'due' ? due.occurrence : due.next }),
  };
}
