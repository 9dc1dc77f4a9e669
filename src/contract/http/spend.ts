import { z } from 'zod';

/** `GET /spend`: what the sessions of a fiber, or one session, used; one of the two is named. */
export const spendQuerySchema = z
  .object({ uid: z.string().min(1).optional(), session: z.string().min(1).optional() })
  .refine(({ uid, session }) => (uid === undefined) !== (session === undefined), {
    message: 'name either the uid of a fiber or a session',
  });

/** Tokens as the provider counted them. `input` leaves out what was read from its cache or written to it. */
export const tokensSchema = z.object({
  input: z.number().int(),
  cache_read: z.number().int(),
  cache_write: z.number().int(),
  output: z.number().int(),
});
export type Tokens = z.infer<typeof tokensSchema>;

/** What one session used, as its transcript tells; `tokens` is null where it does not, with the reason. */
export const sessionSpendSchema = z.object({
  session: z.string(),
  tokens: tokensSchema.nullable(),
  /** Answers of the model that were counted. */
  answers: z.number().int(),
  models: z.array(z.string()),
  unknown: z.enum(['transcript_missing', 'no_counts', 'unreadable']).nullable(),
});
export type SessionSpend = z.infer<typeof sessionSpendSchema>;

export const spendSchema = z.object({
  host: z.string(),
  /** Oldest first. */
  sessions: z.array(
    sessionSpendSchema.extend({
      /** Null where neither the ledger nor a transcript tells. */
      harness: z.string().nullable(),
      began_at: z.number().nullable(),
    }),
  ),
  /** The sum of what is known; null when nothing is. */
  total: tokensSchema.nullable(),
  /** Sessions that are not in the total. */
  unknown: z.number().int(),
});
export type Spend = z.infer<typeof spendSchema>;
