import { z } from 'zod';
import { wordsSchema } from './moment.ts';

const byte = z
  .string()
  .regex(/^\d{1,15}$/, { error: 'must be a number of bytes' })
  .transform(Number)
  .optional();

/**
 * `GET /transcript/words?session=&before_byte=&after_byte=&host=`: without either byte the end of the transcript; `host` is
 * the host with it.
 */
export const transcriptWordsQuerySchema = z
  .object({
    session: z.string().min(1),
    before_byte: byte,
    after_byte: byte,
    host: z.string().optional(),
  })
  .refine(({ before_byte, after_byte }) => before_byte === undefined || after_byte === undefined, {
    path: ['after_byte'],
    message: 'cannot be given with before_byte',
  });

/** A stretch of a transcript. */
export const transcriptPageSchema = z.object({
  /** What was said before this byte is read with it as `before_byte`; 0 if there is nothing before. */
  from: z.number().int(),
  /** What is said later is read with it as `after_byte`. */
  to: z.number().int(),
  /** Bytes of the transcript. */
  size: z.number().int(),
  /** Oldest first; a text of more than 20,000 characters ends in `…`. `byte`: where its record begins. */
  words: z.array(wordsSchema.extend({ byte: z.number().int() })),
});
export type TranscriptPage = z.infer<typeof transcriptPageSchema>;

export const transcriptWordsSchema = transcriptPageSchema.extend({
  host: z.string(),
  session: z.string(),
  harness: z.string(),
});
export type TranscriptWords = z.infer<typeof transcriptWordsSchema>;
