import { z } from 'zod';
import { WRITE_LIMITS } from '../document-limits.ts';
import { oversize } from '../value-limits.ts';

/** An id, a store root, an agent, a directory or another reference. */
export const referenceSchema = z.string().max(WRITE_LIMITS.reference_chars);

/** Text for a worker: a capture or a message. */
export const promptSchema = z.string().max(WRITE_LIMITS.prompt_chars);

/** A switch in a query; without a value it is on. */
export const flagSchema = z
  .enum(['true', 'false', '1', '0', ''])
  .transform((value) => value === 'true' || value === '1' || value === '');

/** Why a person did something, for whoever finds it so. */
export const noteSchema = z.string().trim().min(1).max(500);

/** A JSON value of any shape that frontmatter can hold. */
export function bounded<T extends z.ZodType>(schema: T): T {
  return schema.superRefine((value, context) => {
    const tooMuch = oversize(value);
    if (tooMuch !== null) context.addIssue({ code: 'custom', message: `has ${tooMuch}` });
  });
}

/** A map with at most `most` keys. */
export function mostKeys<T extends z.ZodType>(schema: T, most: number): T {
  return schema.superRefine((value, context) => {
    if (Object.keys(value as object).length > most)
      context.addIssue({ code: 'custom', message: `takes at most ${most} keys` });
  });
}
