import { z } from 'zod';
import { blockedViewSchema, deathSchema, runViewSchema, sessionNotOursSchema } from '../fiber.ts';
import { GATES, LAUNCH_CHECKS } from '../gates.ts';
import { placesSchema } from './state.ts';

const flag = z
  .enum(['true', 'false', '1', '0', ''])
  .transform((value) => value === 'true' || value === '1' || value === '');

/**
 * `GET /why?fiber=&look=`: `look` also runs the checks outside the daemon, which access the fiber's `project_dir`
 * (DSP-4); without it they are `not_asked`.
 */
export const whyQuerySchema = z.object({
  fiber: z.string().min(1),
  look: flag.optional(),
  origin: z.string().optional(),
});

/** One gate. For a shut gate `message` gives the reason and `mend` the exact command for a person. */
export const gateViewSchema = z.object({
  gate: z.enum([...GATES, ...LAUNCH_CHECKS]),
  state: z.enum(['open', 'shut', 'not_asked']),
  /** The reason of a refused check; otherwise the name of the gate. */
  reason: z.string().optional(),
  message: z.string().optional(),
  mend: z.string().optional(),
});
export type GateView = z.infer<typeof gateViewSchema>;

/** `GET /why`: why the poller does not start this fiber now, by the same list of gates that the poller uses. */
export const whySchema = z.object({
  fiber_id: z.string(),
  uid: z.string().nullable(),
  host: z.string(),
  at: z.number(),
  /** `running`: it has a worker; `launches`: every gate is open; `waits`: a gate is shut. */
  verdict: z.enum(['running', 'launches', 'waits']),
  first: gateViewSchema.nullable(),
  gates: z.array(gateViewSchema),
  /** Paths of other documents with its ULID. */
  twins: z.array(z.string()).optional(),
  /** Whether the directory was checked for this answer; null if the fiber names none. */
  project_dir: z.object({ path: z.string(), looked_at: z.boolean() }).nullable(),
  workers: placesSchema,
  /** Since when it waits for a free worker slot; null if it does not. */
  waits_since: z.number().nullable(),
  /** When its schedule comes next, also while it waits or rests; absent without a schedule that can be read. */
  next_occurrences: z.array(z.number()).optional(),
  runtime: runViewSchema.optional(),
  blocked: blockedViewSchema.optional(),
  last_death: deathSchema.optional(),
  not_ours: z.array(sessionNotOursSchema).optional(),
});
export type Why = z.infer<typeof whySchema>;
