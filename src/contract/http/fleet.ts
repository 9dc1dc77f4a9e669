import { z } from 'zod';
import { remoteNameSchema, remoteSchema } from '../operator-files.ts';
import { dryRunField } from './rehearsal.ts';

/** `POST /fleet/remotes` (WPL-18): adds or replaces one remote; null removes it. */
export const writeRemoteSchema = z.object({
  name: remoteNameSchema,
  /** Its entry in `remotes.json` without the name. */
  remote: remoteSchema.omit({ name: true }).nullable(),
  /** Of `remotes.json` as it was read. */
  expected_digest: z.string().optional(),
  dry_run: dryRunField,
  origin: z.string().optional(),
});
export const remoteWrittenSchema = z.object({
  /** The names of all remotes now. */
  remotes: z.array(z.string()),
  path: z.string(),
  digest: z.string(),
  /** False if the file said so already. */
  changed: z.boolean(),
});
export type RemoteWritten = z.infer<typeof remoteWrittenSchema>;
