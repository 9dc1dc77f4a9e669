import type { FiberDocument } from '../../contract/fiber.ts';
import type { Places } from '../../contract/http/state.ts';
import { isArmed } from '../../lifecycle/rearm.ts';
import type { Memory } from '../holds/memory.ts';
import { owedStart } from '../holds/owed-starts.ts';
import type { HoldReason } from '../holds/quarantine.ts';
import { limitOf } from '../holds/usage-limits.ts';
import { viewRun } from '../run/runs.ts';
import { keyOf } from '../world/documents.ts';
import type { World } from '../world/world.ts';
import type { EligibilityFacts } from './eligibility.ts';
import { givesPlaceUpAt } from './places.ts';
import { runElsewhere } from './run-elsewhere.ts';
import { type Due, standingDue } from './standing.ts';

/** When the role is due, or null for anything but an armed standing role. */
export function dueOf(world: Pick<World, 'clock' | 'zone'>, document: FiberDocument): Due | null {
  if (document.svc?.kind !== 'standing' || !isArmed(document)) return null;
  return standingDue(document, world.clock.now(), world.zone);
}

/** The facts of one fiber for the eligibility kernel. */
export function eligibilityFacts(world: World, memory: Memory, document: FiberDocument): EligibilityFacts {
  const key = keyOf(document);
  const now = world.clock.now();
  return {
    host: world.host,
    now,
    occupied: memory.starting.has(key) || memory.runs.get(key) !== undefined,
    due: owedStart(memory, document) === null ? dueOf(world, document) : { kind: 'due', occurrence: now },
    paused_until: memory.breaker.pausedUntil(key, now),
    limited_until: limitOf(world, memory, document.svc?.agent ?? null)?.until ?? null,
    held: holdOf(memory, document),
    cooldown_until: memory.refusals.cooldownOf(key, now),
    mux_answers: memory.mux_answers,
    stopped_all: memory.brake.pulled !== null,
    data_dir_fault: memory.data_dir.fault,
    leased: memory.leases.of(document.store).state === 'held',
    elsewhere: runElsewhere(document, { daemon_id: world.daemonId, now }),
    get workers() {
      return placesOf(memory, now);
    },
    resources: memory.starts.hold(),
  };
}

/** Workers that run, start, or cannot be told to be gone, and what of that counts for `max_concurrent`. */
export function placesOf(
  memory: Pick<Memory, 'most_workers' | 'place_kept_ms' | 'runs' | 'starting'>,
  now: number,
): Places {
  const { most_workers: most, place_kept_ms, runs } = memory;
  let count = runs.size;
  for (const key of memory.starting) if (runs.get(key) === undefined) count += 1;
  let resting = 0;
  if (most !== null && place_kept_ms !== null)
    for (const run of runs.all()) resting += Number(now >= givesPlaceUpAt(viewRun(run, now), place_kept_ms));
  return { count, resting, most };
}

/** Why this fiber waits, or null. What the start of the daemon holds besides is the least of it. */
function holdOf(
  { breaker, quarantine, unconcluded }: Pick<Memory, 'breaker' | 'quarantine' | 'unconcluded'>,
  document: FiberDocument,
): HoldReason | null {
  const key = keyOf(document);
  if (unconcluded.has(key)) return 'not_concluded';
  if (quarantine.namedHoldOf(key) === null && breaker.heldSince(key) !== null) return 'loop_breaker';
  return quarantine.holdOf(key, document.svc?.runtime?.dispatched_at !== undefined);
}
