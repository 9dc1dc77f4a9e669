import { z } from 'zod';
import { oneLineFault } from '../../base/terminal-text.ts';
import { WRITE_LIMITS } from '../document-limits.ts';
import { oversize } from '../value-limits.ts';

/** An id, a store root, an agent, a directory or another reference. */
export const referenceSchema = z.string().max(WRITE_LIMITS.reference_chars);

/** Text for a worker: a capture or a message. */
export const promptSchema = z.string().max(WRITE_LIMITS.prompt_chars);

/** A switch in a query; without a value it is on. */
export const flagSchema = z
  .enum(['true', 'false', '1', '0', ''], { error: 'must be true or false' })
  .transform((value) => value === 'true' || value === '1' || value === '');

/** A time in a query, in milliseconds since the Unix epoch. */
export const timeSchema = z
  .string({ error: 'must be given, in milliseconds since 1970' })
  .regex(/^\d{1,15}$/, { error: 'must be a whole number of milliseconds since 1970' })
  .meta({ type: 'integer', minimum: 0, pattern: undefined })
  .transform(Number);

/** A whole number in a query. */
export function wholeNumber(least: number, most: number) {
  const error = `must be a whole number from ${least} to ${most}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, { error })
    .meta({ type: 'integer', minimum: least, maximum: most, pattern: undefined })
    .transform(Number)
    .pipe(z.number().min(least, { error }).max(most, { error }));
}

/** A text that is shown within one line: without line breaks, and without characters that hide or turn others. */
export function oneLine<T extends z.ZodType<string>>(schema: T): T {
  return schema.superRefine((text, context) => {
    const fault = oneLineFault(text);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
  });
}

/** Why a person did something, for whoever finds it so. */
export const noteSchema = oneLine(z.string().trim().min(1).max(500));

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
