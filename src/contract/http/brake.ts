import { z } from 'zod';
import { noteSchema } from './bounded.ts';
import { dryRunField } from './rehearsal.ts';

/** The emergency brake as `GET /state` shows it. */
export const brakeViewSchema = z.object({
  on: z.boolean(),
  /** Milliseconds since the Unix epoch; null if it is off or its file does not say. */
  since: z.number().nullable(),
  note: z.string().nullable(),
  /** Why it is on only until the daemon ends, and the fix; absent if its file was written. */
  fault: z.string().optional(),
});

/** `POST /brake`: nothing new is started on this host until `POST /brake/release`, across restarts. */
export const pullBrakeSchema = z.object({
  /** Also end the workers that run, and captures. Each fiber is then held until it is resumed or dispatched. */
  kill: z.boolean().optional(),
  /** A note for other people that says why it is on. */
  note: noteSchema.optional(),
  dry_run: dryRunField,
  origin: z.string().optional(),
});
export type PullBrake = z.infer<typeof pullBrakeSchema>;
export const brakePulledSchema = z.object({
  stopped: z.literal(true),
  /** False when the brake was on already. */
  changed: z.boolean(),
  since: z.number().nullable(),
  note: z.string().nullable(),
  /** Why it is on only until the daemon ends, and the fix; absent where it lasts. */
  fault: z.string().optional(),
  /** Fibers whose workers keep running. */
  running: z.array(z.string()),
  /** Terminal sessions of captures that have no fiber yet and go on. */
  captures: z.array(z.string()).optional(),
  /** Those that were ended; their texts are kept. */
  ended_captures: z.array(z.string()).optional(),
  killed: z.array(z.string()),
  /** Workers whose end could not be confirmed. */
  not_killed: z.array(z.object({ fiber_id: z.string(), message: z.string() })),
});
export type BrakePulled = z.infer<typeof brakePulledSchema>;

/** `POST /brake/release`: the poller starts workers again. */
export const releaseBrakeSchema = z.object({
  dry_run: dryRunField,
  origin: z.string().optional(),
});
export type ReleaseBrake = z.infer<typeof releaseBrakeSchema>;
export const brakeReleasedSchema = z.object({
  stopped: z.literal(false),
  /** False when the brake was off already. */
  changed: z.boolean(),
  /** Fibers that are still held. */
  held: z.array(z.string()),
});
export type BrakeReleased = z.infer<typeof brakeReleasedSchema>;
