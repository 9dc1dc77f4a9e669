import { z } from 'zod';

/** The body of every JSON error; `message` says what a person can do. */
export const errorBodySchema = z.looseObject({ error: z.string(), message: z.string().optional() });

/** A 409 on a file that changed since it was read: `digest` is that of its current content (ERR-12, ERR-30). */
export const conflictSchema = errorBodySchema.extend({
  conflict: z.literal(true).optional(),
  digest: z.string().optional(),
});
