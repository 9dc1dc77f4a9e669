import { z } from 'zod';

/** A file whose bytes are in the bulk of a call, from `offset`. It is kept under the name `kept_as`. */
export const bulkFileSchema = z.object({
  name: z.string(),
  kept_as: z.string(),
  sha256: z.string(),
  offset: z.number().int(),
  size: z.number().int(),
});
export type BulkFile = z.infer<typeof bulkFileSchema>;
