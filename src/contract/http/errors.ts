import { z } from 'zod';

/** The body of every JSON error; a person who must act finds what to do in `message`. */
export const errorBodySchema = z.looseObject({ error: z.string(), message: z.string().optional() });
export type ErrorBody = z.infer<typeof errorBodySchema>;
