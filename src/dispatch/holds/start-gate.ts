import type { Clock } from '../../base/clock.ts';
import type { Settings } from '../../config/settings.ts';
import { memoryBytes } from '../../contract/memory-max.ts';
import type { MemoryLimits } from '../run-directory/worker-memory.ts';

/**
 * What a start needs, and how much of it is free now, in bytes or as a number. Null: the system does not report it.
 * `workers_memory` is what the limit of all workers together leaves.
 */
export const RESOURCES = ['memory', 'workers_memory', 'processes', 'descriptors', 'terminals'] as const;
export type Resource = (typeof RESOURCES)[number];
export type FreeResources = Record<Resource, number | null>;

export type StartPolicy = {
  /** New starts wait while less than this is free. */
  floors: Record<Resource, number>;
  /** The expected use of a worker, as long as the system does not report that of a young one yet. */
  each: Record<Resource, number>;
  /** How long a worker is young, in milliseconds. */
  young_ms: number;
  /** Starts that need no spacing, and the spacing of those after them, in milliseconds. */
  burst: number;
  spacing_ms: number;
};

/** Starts so far: those of young workers, oldest first, and the time until which the spacing is used up. */
export type StartRecord = { young: readonly number[]; paced_until: number };

/** What holds new starts back. `free` is reduced by what workers that just started are expected to use. */
export type ResourceHold =
  | { what: Resource; free: number; floor: number; young: number }
  | { what: 'pace'; burst: number; next_at: number };

/** Whether a worker may be started now; reads nothing but its arguments. */
export function judgeStart(
  free: FreeResources,
  policy: StartPolicy,
  record: StartRecord,
  now: number,
): ResourceHold | null {
  const young = record.young.filter((at) => isYoung(at, policy, now)).length;
  for (const what of RESOURCES) {
    const seen = free[what];
    if (seen === null) continue;
    const left = Math.max(0, seen - young * policy.each[what]);
    if (left < policy.floors[what]) return { what, free: left, floor: policy.floors[what], young };
  }
  const next_at = pacedUntil(record, policy, now) - (policy.burst - 1) * policy.spacing_ms;
  return next_at > now ? { what: 'pace', burst: policy.burst, next_at } : null;
}

/** The record with one more start. */
export function withStart(record: StartRecord, policy: StartPolicy, now: number): StartRecord {
  // Starts that a person requests ignore the spacing, and delay it by no more than one burst.
  const ahead = Math.min(pacedUntil(record, policy, now), now + policy.burst * policy.spacing_ms);
  return {
    young: [...record.young.filter((at) => isYoung(at, policy, now)), now],
    paced_until: Math.max(ahead, now) + policy.spacing_ms,
  };
}

/** The record without one that was counted at this time. */
export function withoutStart(record: StartRecord, policy: StartPolicy, at: number): StartRecord {
  const place = record.young.lastIndexOf(at);
  return {
    young: record.young.filter((_, index) => index !== place),
    paced_until: record.paced_until - policy.spacing_ms,
  };
}

/** A time that no starts can explain was written before the clock was set back. */
function pacedUntil({ paced_until }: StartRecord, { burst, spacing_ms }: StartPolicy, now: number): number {
  return paced_until > now + (burst + 1) * spacing_ms ? now : paced_until;
}

function isYoung(at: number, { young_ms }: StartPolicy, now: number): boolean {
  return Math.abs(now - at) < young_ms;
}

/** How long a reading of the machine's resources is cached, in milliseconds. */
const FRESH_MS = 500;

/** Holds new starts of the poller back while the machine is short of what they need. */
export class StartGate {
  readonly #policy: StartPolicy;
  readonly #look: () => FreeResources;
  readonly #clock: Clock;
  #record: StartRecord = { young: [], paced_until: 0 };
  #seen: { at: number; free: FreeResources } | null = null;
  /** Fibers that waited for nothing else at the last check. */
  waiting = 0;

  constructor(options: { policy: StartPolicy; look: () => FreeResources; clock: Clock }) {
    this.#policy = options.policy;
    this.#look = options.look;
    this.#clock = options.clock;
  }

  hold(): ResourceHold | null {
    const now = this.#clock.now();
    if (this.#seen === null || Math.abs(now - this.#seen.at) >= FRESH_MS)
      this.#seen = { at: now, free: this.#look() };
    return judgeStart(this.#seen.free, this.#policy, this.#record, now);
  }

  /** Counts a start from its beginning, whoever requested it; the returned function takes back one that failed. */
  begin(): () => void {
    const now = this.#clock.now();
    this.#record = withStart(this.#record, this.#policy, now);
    return () => {
      this.#record = withoutStart(this.#record, this.#policy, now);
    };
  }
}

/**
 * The expected use of a worker until the machine reports it: an agent program with its helper processes, soon after
 * its start.
 */
const EACH = { memory: 300e6, processes: 30, descriptors: 4, terminals: 1 };
/** Share of the memory of all workers that is reserved for those that run. */
const KEPT_SHARE = 0.05;
const YOUNG_MS = 30_000;

/** The policy that these settings mean under these limits. */
export function startPolicy(
  settings: Pick<
    Settings,
    | 'floor_memory'
    | 'floor_processes'
    | 'floor_descriptors'
    | 'floor_terminals'
    | 'start_burst'
    | 'start_spacing_ms'
  >,
  limits: MemoryLimits,
): StartPolicy {
  const each = Math.min(EACH.memory, limits.worker ?? EACH.memory);
  return {
    floors: {
      memory: memoryBytes(settings.floor_memory, limits.machine) ?? 0,
      workers_memory: KEPT_SHARE * (limits.total ?? 0),
      processes: settings.floor_processes,
      descriptors: settings.floor_descriptors,
      terminals: settings.floor_terminals,
    },
    each: { ...EACH, memory: each, workers_memory: each },
    young_ms: YOUNG_MS,
    burst: settings.start_burst,
    spacing_ms: settings.start_spacing_ms,
  };
}
