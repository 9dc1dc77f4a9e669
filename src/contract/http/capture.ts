import { z } from 'zod';
import { appIdentitySchema, workerIdentitySchema } from '../fiber.ts';
import { surfaceSchema } from '../surface.ts';
import { promptSchema, referenceSchema } from './bounded.ts';
import { meetingSchema } from './meeting.ts';
import { dryRunField } from './rehearsal.ts';

/** `POST /capture` (WPL-6): a free text that becomes a fiber, and the worker that files it. */
export const captureRequestSchema = z.object({
  prompt: promptSchema.optional(),
  surface: surfaceSchema.optional(),
  project_dir: referenceSchema,
  agent: referenceSchema.optional(),
  effort: referenceSchema.optional(),
  /** Root of the store of the fiber; optional if there is only one store. */
  store: referenceSchema.optional(),
  origin: referenceSchema.optional(),
  dry_run: dryRunField,
  meeting: z.object({ mode: referenceSchema }).optional(),
  /** Launch id of a recording: the session claims its fiber with it (CAP-3). */
  meeting_launch: referenceSchema.min(1).optional(),
});
export type CaptureRequest = z.infer<typeof captureRequestSchema>;

/** How a session reaches `POST /claim` of its daemon (PRM-8). */
export const claimAddressSchema = z.object({
  url: z.string(),
  /** Path of the Unix socket to send it through; null for a TCP address. */
  socket: z.string().nullable(),
});
export type ClaimAddress = z.infer<typeof claimAddressSchema>;

/** A session that was started for a text (CAP-5); `session_uuid` if the launch chose it. */
export const capturedSchema = appIdentitySchema.extend({
  captured: z.literal(true),
  surface: surfaceSchema,
  host: z.string(),
  mux_session: z.string().nullable(),
  session_uuid: z.string().optional(),
  run_id: z.string(),
  agent: z.string(),
  harness: z.string(),
  /** The meeting that was started for it (CAP-5). */
  meeting: meetingSchema.optional(),
});
export type Captured = z.infer<typeof capturedSchema>;

/** A refusal (422): no session was started and nothing was saved. */
export const captureRefusedSchema = z.object({
  captured: z.literal(false),
  reason: z.string(),
  host: z.string(),
  message: z.string(),
  needs: z.literal('project_dir').optional(),
  /** Of a capture with a meeting, whose recording goes on (CAP-6). */
  meeting: meetingSchema.optional(),
  recording: z.literal(true).optional(),
  /** Of an app conversation whose first turn could not be confirmed (CAP-8). */
  surface: surfaceSchema.optional(),
  thread_id: z.string().optional(),
});
export type CaptureRefused = z.infer<typeof captureRefusedSchema>;

/** `POST /claim` (WPL-5): this session is the worker of this fiber. */
export const claimRequestSchema = z.object({
  fiber_id: referenceSchema.min(1),
  surface: surfaceSchema.optional(),
  mux_session: referenceSchema.min(1).optional(),
  session_uuid: referenceSchema.min(1).optional(),
  /** Launch id of a recording that belongs to the fiber (FIB-11). */
  meeting: referenceSchema.min(1).optional(),
  dry_run: dryRunField,
  origin: referenceSchema.optional(),
});
export type ClaimRequest = z.infer<typeof claimRequestSchema>;

export const claimedSchema = z.object({
  claimed: z.literal(true),
  /** The session was this fiber's worker before. */
  already_claimed: z.boolean(),
  ...workerIdentitySchema.shape,
});
export type Claimed = z.infer<typeof claimedSchema>;

/** A capture without a claimed fiber so far, in `GET /state`. Times in milliseconds since the Unix epoch. */
export const captureViewSchema = appIdentitySchema.extend({
  surface: surfaceSchema,
  /** Null for an app conversation. */
  mux_session: z.string().nullable(),
  session_uuid: z.string().nullable(),
  run_id: z.string(),
  agent: z.string(),
  harness: z.string(),
  project_dir: z.string(),
  store: z.string(),
  /** `ended`: its session or conversation is gone and no fiber was made of the text, which is in `prompt_file`. */
  state: z.enum(['starting', 'running', 'unknown', 'ended']),
  captured_at: z.number(),
  ended_at: z.number().nullable(),
  ended_reason: z.string().nullable(),
  /** The effort that was asked for. */
  effort: z.string().nullable(),
  /** Absolute path of the first message of the session. */
  prompt_file: z.string(),
  /** Absolute path of the text that was captured, to capture it again; null for an older capture. */
  text_file: z.string().nullable(),
});
export type CaptureView = z.infer<typeof captureViewSchema>;
