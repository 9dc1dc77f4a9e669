import { z } from 'zod';
import { compositeOf } from './composite.ts';

/** Files sent by a worker in one call; `at` in milliseconds. */
const sentFilesRowSchema = z.object({
  at: z.number(),
  session: z.string().nullable(),
  mux: z.string().nullable(),
  cwd: z.string().nullable(),
  harness: z.string().nullable(),
  /** Absolute if the worker's folder is known. */
  files: z.array(z.string()),
  /** The fiber, from the sessions ledger; null if unknown. */
  fiber: z.string().nullable(),
  uid: z.string().nullable(),
});
export type SentFilesRow = z.infer<typeof sentFilesRowSchema>;

/** `GET /sent-files/all` (TMP-4) and `GET /sent-files` (TMP-5), newest last. */
export const sentFilesSchema = z.object({ host: z.string(), sent_files: z.array(sentFilesRowSchema) });
export type SentFiles = z.infer<typeof sentFilesSchema>;

export const sentFilesCompositeSchema = compositeOf(sentFilesSchema);
export type SentFilesComposite = z.infer<typeof sentFilesCompositeSchema>;

/** `GET /sent-files?uid=` (TMP-5). */
export const sentFilesQuerySchema = z.object({
  uid: z
    .string({ error: 'must be given: the uid of a fiber' })
    .min(1, { error: 'must be the uid of a fiber' })
    .toUpperCase(),
  origin: z.string().optional(),
});
