import { z } from 'zod';

/** The body of every JSON error; `message` says what a person can do. */
export const errorBodySchema = z.looseObject({ error: z.string(), message: z.string().optional() });

/** A 409 on a file that changed since it was read: `digest` is that of its current content (ERR-12, ERR-30). */
export const conflictSchema = errorBodySchema.extend({
  conflict: z.literal(true).optional(),
  digest: z.string().optional(),
});

/** The refusal of a peer has a `reason` in place of a `message` (AUT-2). */
const refusalSchema = z.object({
  error: z.string().max(100),
  message: z.string().optional(),
  reason: z.string().optional(),
});
const MOST_MESSAGE_CHARS = 500;

/** The code and the sentence of another daemon's refusal; null for a body that is none of this API. */
export function refusalOf(body: unknown): { code: string; sentence: string } | null {
  const told = refusalSchema.safeParse(body).data;
  const said = told?.message ?? told?.reason;
  if (told === undefined || said === undefined) return null;
  return { code: told.error, sentence: said.slice(0, MOST_MESSAGE_CHARS).toWellFormed() };
}
