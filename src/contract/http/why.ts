import { z } from 'zod';
import { blockedViewSchema, runViewSchema } from '../fiber.ts';
import { GATES, LAUNCH_CHECKS } from '../gates.ts';

const flag = z
  .enum(['true', 'false', '1', '0', ''])
  .transform((value) => value === 'true' || value === '1' || value === '');

/**
 * `GET /why?fiber=&look=`: `look` also asks the checks that reach outside the daemon, which touches the fiber's
 * `project_dir` (DSP-4); without it they stay `not_asked`.
 */
export const whyQuerySchema = z.object({
  fiber: z.string().min(1),
  look: flag.optional(),
  origin: z.string().optional(),
});

/** One gate. `message` says what a shut gate saw, `mend` what a person can do, with the exact command. */
export const gateViewSchema = z.object({
  gate: z.enum([...GATES, ...LAUNCH_CHECKS]),
  state: z.enum(['open', 'shut', 'not_asked']),
  /** The reason that a refused check gives; the name of the gate for any other. */
  reason: z.string().optional(),
  message: z.string().optional(),
  mend: z.string().optional(),
});
export type GateView = z.infer<typeof gateViewSchema>;

/** `GET /why`: why the poller does not start this fiber now, by the list that the poller itself goes by. */
export const whySchema = z.object({
  fiber_id: z.string(),
  uid: z.string().nullable(),
  host: z.string(),
  at: z.number(),
  /** `running`: it has a worker; `launches`: nothing keeps it back; `waits`: the first shut gate does. */
  verdict: z.enum(['running', 'launches', 'waits']),
  first: gateViewSchema.nullable(),
  gates: z.array(gateViewSchema),
  /** Whether the directory was looked at for this answer; null where the fiber names none. */
  project_dir: z.object({ path: z.string(), looked_at: z.boolean() }).nullable(),
  workers: z.object({ count: z.number().int(), most: z.number().int().nullable() }),
  /** Since when it waits for a free place among the workers; null when it does not. */
  waits_since: z.number().nullable(),
  runtime: runViewSchema.optional(),
  blocked: blockedViewSchema.optional(),
});
export type Why = z.infer<typeof whySchema>;
