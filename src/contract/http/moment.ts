import { z } from 'zod';
import { timeSchema, wholeNumber } from './bounded.ts';

/** `GET /moment`: what was said in a session around one point in time. */
export const momentQuerySchema = z.object({
  /** Transcript identity of the session. */
  session: z.string().min(1),
  /** Milliseconds since the Unix epoch. */
  at: timeSchema,
  /** Milliseconds before and after `at`; default one minute, at most an hour. */
  within_ms: wholeNumber(1, 3_600_000).default(60_000),
});

/** Something said: by a person, by the agent (`tool` when it called one), or by a tool as its result. */
export const wordsSchema = z.object({
  at: z.number(),
  who: z.enum(['person', 'agent', 'tool']),
  tool: z.string().nullable(),
  /** At most 2,000 characters; a longer text ends in `…`. */
  text: z.string(),
});
export type Words = z.infer<typeof wordsSchema>;

export const momentSchema = z.object({
  host: z.string(),
  session: z.string(),
  harness: z.string(),
  at: z.number(),
  /** Oldest first; at most 100 of them, those nearest to `at`. */
  words: z.array(wordsSchema),
  /**
   * What the agent said last before that time, where no person spoke after it; of a longer text its last 2,000
   * characters. Null also where it is far from there in the transcript.
   */
  said_before: wordsSchema.nullable(),
  /** True if the list is truncated. */
  more: z.boolean(),
});
export type Moment = z.infer<typeof momentSchema>;
