import { z } from 'zod';

/** One line of `sessions.jsonl`: which fiber a harness session belongs to (TMP-2). `at` in milliseconds. */
export const sessionLineSchema = z.looseObject({
  /** Null for a capture, which no fiber was filed for yet. */
  fiber: z.string().nullable(),
  uid: z.string().nullable(),
  /** Transcript identity; null until a harness that assigns its own has told it. */
  session: z.string().nullable(),
  thread_id: z.string().nullable(),
  harness: z.string(),
  /** Id in the agent registry. */
  agent: z.string().optional(),
  host: z.string(),
  mux: z.string().nullable(),
  at: z.number(),
  kind: z.enum(['dispatch', 'learned', 'resume', 'claim', 'capture', 'adopt']),
  run_id: z.string().optional(),
});
export type SessionLine = z.infer<typeof sessionLineSchema>;
