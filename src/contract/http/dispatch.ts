import { z } from 'zod';
import { appIdentitySchema, workerIdentitySchema } from '../fiber.ts';
import { surfaceSchema } from '../surface.ts';
import { noteSchema, promptSchema, referenceSchema } from './bounded.ts';
import { receiptSchema } from './messages.ts';
import { dryRunField } from './rehearsal.ts';

/** `POST /dispatch` (WPL-1). */
export const dispatchRequestSchema = z.object({
  fiber_id: referenceSchema.min(1),
  force: z.boolean().optional(),
  ad_hoc: z.boolean().optional(),
  resume_mode: z.enum(['previous', 'fresh', 'continue']).optional(),
  user_message: promptSchema.optional(),
  project_dir: referenceSchema.optional(),
  /** The agent that the fiber is given with this start. */
  agent: referenceSchema.min(1).optional(),
  /**
   * Start because the fiber's agent is over its usage limit, and refuse where it is not: its worker is ended, and the next
   * agent of `svc.on_limit` takes over, or `agent`.
   */
  because_limit: z.boolean().optional(),
  /** Start although the emergency brake is on; `force` alone does not. */
  despite_brake: z.boolean().optional(),
  dry_run: dryRunField,
  origin: referenceSchema.optional(),
});
export type DispatchRequest = z.infer<typeof dispatchRequestSchema>;

/** A new launch, or the one that already runs (`already_running`). */
export const dispatchedSchema = z.object({
  dispatched: z.literal(true),
  already_running: z.boolean(),
  ...workerIdentitySchema.shape,
  /** True if the worker continues the previous conversation (RES-3). */
  resumed: z.boolean().optional(),
  /** How far `user_message` came as a message to the worker that runs already; absent where it is in the prompt. */
  receipt: receiptSchema.optional(),
  /** Warnings about this launch, one sentence each. */
  notes: z.array(z.string()).optional(),
});
export type Dispatched = z.infer<typeof dispatchedSchema>;

/**
 * A refusal (422, 503 `app_server_unavailable`, 502 `app_launch_failed`): no run was started and no document was
 * written.
 */
export const refusedSchema = z.object({
  dispatched: z.literal(false),
  reason: z.string(),
  fiber_id: z.string(),
  host: z.string(),
  message: z.string(),
  needs: z.literal('project_dir').optional(),
  /** Of an app conversation that stays reserved (CAP-8). */
  surface: surfaceSchema.optional(),
  mux_session: z.null().optional(),
  thread_id: z.string().optional(),
  session_uuid: z.string().optional(),
});
export type Refused = z.infer<typeof refusedSchema>;

/** `POST /kill` (WPL-4). */
export const killRequestSchema = z.object({
  fiber_id: referenceSchema.min(1),
  /** Why, for whoever finds the fiber held. */
  note: noteSchema.optional(),
  dry_run: dryRunField,
  origin: referenceSchema.optional(),
});
export type KillRequest = z.infer<typeof killRequestSchema>;
export const killedSchema = appIdentitySchema.extend({
  killed: z.literal(true),
  /** Present if an earlier request has already ended the worker. */
  already_killed: z.literal(true).optional(),
  fiber_id: z.string(),
  mux_session: z.string().nullable(),
  /** Why the fiber is held only until the daemon ends, and the fix; absent where the hold lasts. */
  fault: z.string().optional(),
});
export type Killed = z.infer<typeof killedSchema>;

/**
 * `POST /quarantine/release` (WPL-25): what the start of the daemon held may launch. A fiber that is held for a reason of
 * its own, such as a kill, stays `held`: one at a time is let go, by `resume` or `dispatch`.
 */
export const releaseRequestSchema = z.object({ dry_run: dryRunField, origin: referenceSchema.optional() });
export type ReleaseRequest = z.infer<typeof releaseRequestSchema>;
export const releasedSchema = z.object({
  released: z.literal(true),
  /** How many `fibers` may launch now. */
  pending: z.number().int(),
  fibers: z.array(z.string()),
  held: z.array(z.object({ fiber_id: z.string(), reason: z.string() })),
});
export type Released = z.infer<typeof releasedSchema>;
