import { z } from 'zod';
import { blockedViewSchema, deathSchema, runViewSchema, sessionNotOursSchema } from '../fiber.ts';
import { referenceSchema } from './bounded.ts';
import { brakeViewSchema } from './brake.ts';
import { captureViewSchema } from './capture.ts';
import { compositeOf, originFields } from './composite.ts';
import { operatorFileErrorSchema } from './config.ts';
import { incidentSchema } from './incidents.ts';
import { meetingSchema } from './meeting.ts';
import { dryRunField } from './rehearsal.ts';

const fiberRefSchema = z.object({ fiber_id: z.string(), uid: z.string().nullable(), store: z.string() });

/**
 * Number of running and starting workers, those of them that rest and so do not count for the limit, and the limit; null for
 * no limit.
 */
export const placesSchema = z.object({
  count: z.number().int(),
  resting: z.number().int(),
  most: z.number().int().nullable(),
});
export type Places = z.infer<typeof placesSchema>;

/** Health of one store's listing (DSP-1). */
export const storeHealthSchema = z.object({
  store: z.string(),
  /**
   * `cold`: not listed yet; `stale`: rows are shown as of `last_ok_at`, since the store could not be read, or two intervals
   * have passed in which it was not; `error` says which.
   */
  state: z.enum(['cold', 'ok', 'stale']),
  fibers: z.number().int(),
  /** When it was last listed, or found unchanged by its watches. */
  last_ok_at: z.number().nullable(),
  last_ms: z.number().nullable(),
  error: z.string().nullable(),
});
export type StoreHealth = z.infer<typeof storeHealthSchema>;

/** `POST /fiber-stores/sweep`: the root of one store. */
export const sweepStoreSchema = z.object({
  store: referenceSchema.min(1),
  dry_run: dryRunField,
  origin: referenceSchema.optional(),
});

/** How memory limits of workers are enforced; `detail` says where, or why they are not. Null: no limit. */
const workerMemoryViewSchema = z.object({
  mechanism: z.enum(['systemd', 'cgroup v2', 'cgroup v1', 'none']),
  detail: z.string(),
  worker_bytes: z.number().nullable(),
  total_bytes: z.number().nullable(),
});
export type WorkerMemoryView = z.infer<typeof workerMemoryViewSchema>;
/**
 * Whether this daemon dispatches from a store. `elsewhere`: another daemon of the same host id on this machine does,
 * and this one starts nothing from it; `unknown`: that could not be determined, and this one starts nothing either.
 */
const storeLeaseSchema = z.object({
  state: z.enum(['held', 'elsewhere', 'unknown']),
  holder: z
    .object({
      pid: z.number().int(),
      machine: z.string(),
      data_dir: z.string().nullable(),
      /** ISO 8601. */
      since: z.string().nullable(),
    })
    .nullable(),
  detail: z.string().nullable(),
});
export type StoreLease = z.infer<typeof storeLeaseSchema>;

/** The poller's part of `GET /state` (OPR-2). */
export const pollerStateSchema = z.object({
  running: z.array(runViewSchema.extend(fiberRefSchema.shape)),
  blocked: z.array(blockedViewSchema.extend(fiberRefSchema.shape)),
  /** Fibers whose last worker died, until it runs well or is judged; as `last_death` of their rows. */
  deaths: z.array(deathSchema.extend(fiberRefSchema.shape)),
  /** Fibers that a person has to let go; `note`: what the person said who held it, or null. */
  pending_launch: z.array(
    fiberRefSchema.extend({ since: z.number(), reason: z.string(), note: z.string().nullable() }),
  ),
  standing_roles: z.array(
    fiberRefSchema.extend({
      schedule: z.string(),
      tz: z.string(),
      /** `awaiting_review`: closed without a verdict; nothing is due before a person has accepted or resumed it. */
      state: z.enum(['armed', 'running', 'awaiting_review', 'accepted', 'set_aside', 'parked']),
      /** A run that ended without fault and left an outcome is accepted by itself. */
      auto_accept: z.boolean(),
      /** Null unless it is armed and its schedule can be read. */
      next_due_at: z.number().nullable(),
      error: z.string().nullable(),
    }),
  ),
  /** Sessions that have the names of workers and are none; they keep nothing from starting. */
  not_ours: z.array(sessionNotOursSchema.extend(fiberRefSchema.shape)).optional(),
  /** Captures without a claimed fiber so far, including those that ended within the last day. */
  captures: z.array(captureViewSchema),
  boot_quarantine: z.object({
    active: z.boolean(),
    /** `reboot`: the machine was restarted since the last run of the daemon. */
    reason: z.enum(['restart', 'reboot']),
    held: z.number().int(),
    released_at: z.number().nullable(),
  }),
  /** The command that starts this daemon; absent from an older daemon. */
  start_command: z.string().optional(),
  /** Events of hooks that were dropped since the data folder was made; absent from an older daemon. */
  dropped_hook_events: z.number().int().optional(),
  /** The emergency brake. */
  brake: brakeViewSchema,
  /** The data folder; while there is a `fault`, nothing is started. */
  data_dir: z.object({ path: z.string(), fault: z.string().nullable() }),
  workers: placesSchema,
  worker_memory: workerMemoryViewSchema,
  /** The resource that delays new starts, or null; and the number of fibers that wait only for it. */
  start_gate: z.object({
    hold: z.object({ message: z.string(), mend: z.string() }).nullable(),
    waiting: z.number().int(),
  }),
  contract: z.object({ ok: z.boolean(), daemon: z.number().int(), cli: z.number().int().nullable() }),
  poll_health: z.object({
    last_tick_at: z.number().nullable(),
    last_tick_ms: z.number().nullable(),
    ticks: z.number().int(),
    interval_ms: z.number(),
    stores: z.array(
      storeHealthSchema.extend({
        lease: storeLeaseSchema,
        /** Why nothing is started from the store, and the fix; null if this daemon holds its lease. */
        held_back: z.object({ message: z.string(), mend: z.string() }).nullable(),
      }),
    ),
    mux: z.object({
      state: z.enum(['alive', 'absent', 'unknown']),
      detail: z.string().nullable(),
      /** The owner of the running server (MUX-4); `name` as reported by the system. */
      owner: z.object({
        kind: z.enum(['daemon_born', 'user_born', 'unknown', 'absent']),
        name: z.string().nullable(),
      }),
    }),
  }),
  /** Unreadable and invalid documents; the first of them by path, with the reason. */
  document_errors: z.object({
    count: z.number().int(),
    first: z.array(z.object({ store: z.string(), path: z.string(), error: z.string() })),
  }),
  /** Operator files that are in use and not valid; what was valid before stays in force. */
  operator_file_errors: z.array(operatorFileErrorSchema),
  incidents: z.array(incidentSchema),
  /** Worker skills in the agent programs' own places, as found at boot (VER-3). */
  skills: z.object({
    generation: z.string(),
    installed: z.array(
      z.object({
        harness: z.string(),
        state: z.enum(['current', 'skewed', 'absent']),
        generation: z.string().nullable(),
      }),
    ),
  }),
});
export type PollerState = z.infer<typeof pollerStateSchema>;

export const ledgersStateSchema = z.object({
  sessions: z.object({ entries: z.number().int(), malformed: z.number().int(), bytes: z.number() }),
  commits: z.object({ entries: z.number().int(), malformed: z.number().int(), bytes: z.number() }),
  /** Both files of messages; null until somebody has asked for messages. */
  messages: z
    .object({ entries: z.number().int(), malformed: z.number().int(), bytes: z.number() })
    .nullable(),
  /** Both event files; null during the first read. `malformed`: complete lines that are not events. */
  events: z
    .object({
      entries: z.number().int(),
      malformed: z.number().int(),
      bytes: z.number(),
      buckets: z.number().int(),
    })
    .nullable(),
});
export type LedgersState = z.infer<typeof ledgersStateSchema>;

/** How fresh the copy of the feed of a remote is (RTE-7). */
export const remoteStateSchema = z.object({
  name: z.string(),
  /** As of a host in a composite; `unpolled`: it has not been asked yet. */
  state: z.enum(['unpolled', ...originFields.state.options]),
  last_ok_at: originFields.last_ok_at,
  error: originFields.error,
  build: originFields.build,
  /**
   * `recovering`: it failed several times, and new connections and its address are tried; `tripped`: that failed too, and
   * it is asked only now and then (BRK-1).
   */
  breaker: z.enum(['closed', 'recovering', 'tripped']),
});
export type RemoteState = z.infer<typeof remoteStateSchema>;

export const fleetStateSchema = z.object({ remotes: z.array(remoteStateSchema) });
export type FleetState = z.infer<typeof fleetStateSchema>;

export const audioStateSchema = z.object({
  /** The meeting that this host records; `GET /meeting` tells more. */
  meeting: meetingSchema.pick({ state: true, title: true, launch: true, started_at: true }).nullable(),
  /** Connections of `GET /meeting/audio`. */
  sockets: z.number().int(),
});

/** `GET /state` (RPL-19, OPR-2); the part of a component that does not answer is null. */
export const stateSchema = z.object({
  host: z.string(),
  generated_at: z.number(),
  ...pollerStateSchema.shape,
  ledgers: ledgersStateSchema.nullable(),
  fleet: fleetStateSchema.nullable(),
  audio: audioStateSchema.nullable(),
});
export type State = z.infer<typeof stateSchema>;

/** `GET /state/composite` (RPL-20): `GET /state` and the parts of all hosts; only those where the poller does not answer. */
const stateOriginsSchema = compositeOf(stateSchema);
export const stateCompositeSchema = stateSchema.extend(stateOriginsSchema.shape).or(stateOriginsSchema);
export type StateComposite = z.infer<typeof stateCompositeSchema>;
