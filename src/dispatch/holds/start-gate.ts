import type { Clock } from '../../base/clock.ts';
import type { Settings } from '../../config/settings.ts';
import { memoryBytes } from '../../contract/memory-max.ts';
import type { MachinePressure } from '../../platform/machine-pressure.ts';
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
  /** The load for each core above which the machine is busy, 0 for never; and the spacing of starts meanwhile. */
  busy_load: number;
  busy_spacing_ms: number;
};

/** Starts so far: the recent ones, oldest first, and the time until which the spacing is used up. */
export type StartRecord = { recent: readonly number[]; paced_until: number };

/** What holds new starts back. `free` is reduced by what workers that just started are expected to use. */
export type ResourceHold =
  | { what: Resource; free: number; floor: number; young: number }
  | { what: 'pace'; burst: number; next_at: number }
  | { what: 'busy'; with: Busy; next_at: number };

/** What a machine is busy with: processes that run or wait, or that wait for memory, for a share of the time. */
export type Busy = { load: number; cores: number; most: number } | { memory: number };

/** What the machine tells of itself. */
export type MachineLook = { free: FreeResources; pressure: MachinePressure };

/** Whether a worker may be started now; reads nothing but its arguments. */
export function judgeStart(
  { free, pressure }: MachineLook,
  policy: StartPolicy,
  record: StartRecord,
  now: number,
): ResourceHold | null {
  const young = record.recent.filter((at) => isYoung(at, policy, now)).length;
  for (const what of RESOURCES) {
    const seen = free[what];
    if (seen === null) continue;
    const left = Math.max(0, seen - young * policy.each[what]);
    if (left < policy.floors[what]) return { what, free: left, floor: policy.floors[what], young };
  }
  const next_at = pacedUntil(record, policy, now) - (policy.burst - 1) * policy.spacing_ms;
  if (next_at > now) return { what: 'pace', burst: policy.burst, next_at };
  const busy = busyWith(pressure, policy);
  const last = record.recent.findLast((at) => at <= now);
  if (busy === null || last === undefined || last + policy.busy_spacing_ms <= now) return null;
  return { what: 'busy', with: busy, next_at: last + policy.busy_spacing_ms };
}

/** A share of the time in which some process waits for memory from which on the machine is busy. */
const MEMORY_WAITS = 0.2;
/** The load falls slowly: while processes wait for a processor for less of the time, the machine is busy no more. */
const PROCESSOR_WAITS = 0.5;

/** Null for a machine that has time for another worker. */
function busyWith(
  { load, cores, waiting, memory }: MachinePressure,
  { busy_load }: Pick<StartPolicy, 'busy_load'>,
): Busy | null {
  if (busy_load === 0) return null;
  if ((memory ?? 0) >= MEMORY_WAITS) return { memory: memory ?? 0 };
  const most = busy_load * cores;
  return load > most && (waiting ?? 1) >= PROCESSOR_WAITS ? { load, cores, most } : null;
}

/** The record with one more start. */
export function withStart(record: StartRecord, policy: StartPolicy, now: number): StartRecord {
  // Starts that a person requests ignore the spacing, and delay it by no more than one burst.
  const ahead = Math.min(pacedUntil(record, policy, now), now + policy.burst * policy.spacing_ms);
  return {
    recent: [...record.recent.filter((at) => isRecent(at, policy, now)), now],
    paced_until: Math.max(ahead, now) + policy.spacing_ms,
  };
}

/** The record without one that was counted at this time. */
export function withoutStart(record: StartRecord, policy: StartPolicy, at: number): StartRecord {
  const place = record.recent.lastIndexOf(at);
  return {
    recent: record.recent.filter((_, index) => index !== place),
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

/** Whether a start still counts: for what its young worker needs, or for the spacing on a busy machine. */
function isRecent(at: number, { young_ms, busy_spacing_ms }: StartPolicy, now: number): boolean {
  return Math.abs(now - at) < Math.max(young_ms, busy_spacing_ms);
}

/** How long a reading of the machine's resources is cached, in milliseconds. */
const FRESH_MS = 500;

/** Holds new starts of the poller back while the machine is short of what they need. */
export class StartGate {
  readonly #policy: StartPolicy;
  readonly #look: () => MachineLook;
  readonly #clock: Clock;
  #record: StartRecord = { recent: [], paced_until: 0 };
  #seen: { at: number; look: MachineLook } | null = null;
  /** Fibers that waited for nothing else at the last check. */
  waiting = 0;

  constructor(options: { policy: StartPolicy; look: () => MachineLook; clock: Clock }) {
    this.#policy = options.policy;
    this.#look = options.look;
    this.#clock = options.clock;
  }

  hold(): ResourceHold | null {
    const now = this.#clock.now();
    if (this.#seen === null || Math.abs(now - this.#seen.at) >= FRESH_MS)
      this.#seen = { at: now, look: this.#look() };
    return judgeStart(this.#seen.look, this.#policy, this.#record, now);
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
    | 'busy_load'
    | 'busy_spacing_ms'
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
    busy_load: settings.busy_load,
    busy_spacing_ms: settings.busy_spacing_ms,
  };
}
