import { z } from 'zod';

/** `GET /spend`: the usage of a fiber's sessions or of one session; exactly one of the two is given. */
export const spendQuerySchema = z
  .object({
    uid: z.string().min(1).optional(),
    session: z.string().min(1).optional(),
    origin: z.string().optional(),
  })
  .refine(({ uid, session }) => (uid === undefined) !== (session === undefined), {
    message: 'must name either the uid of a fiber or a session',
  });

/** Tokens as the provider counted them. `input` excludes cache reads and writes. */
export const tokensSchema = z.object({
  input: z.number().int(),
  cache_read: z.number().int(),
  cache_write: z.number().int(),
  output: z.number().int(),
});
export type Tokens = z.infer<typeof tokensSchema>;

/** The usage of one session from its transcript; if it is unknown, `tokens` is null and a reason is given. */
export const sessionSpendSchema = z.object({
  session: z.string(),
  tokens: tokensSchema.nullable(),
  /** Number of model answers counted. */
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
      /** Null if neither the ledger nor a transcript has it. */
      harness: z.string().nullable(),
      began_at: z.number().nullable(),
    }),
  ),
  /** The sum of the known values; null if there are none. */
  total: tokensSchema.nullable(),
  /** Sessions not included in the total. */
  unknown: z.number().int(),
});
export type Spend = z.infer<typeof spendSchema>;
