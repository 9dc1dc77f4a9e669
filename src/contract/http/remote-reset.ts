import { z } from 'zod';
import { referenceSchema } from './bounded.ts';
import { dryRunField } from './rehearsal.ts';

/** `POST /remotes/:name/reset` (WPL-26): of the daemon of `origin`, which follows the remote. */
export const resetRemoteSchema = z.object({ origin: referenceSchema.optional(), dry_run: dryRunField });

/** The cascade has begun; `GET /state` shows what comes of it. */
export const remoteResetSchema = z.object({ name: z.string(), reset: z.literal(true) });
export type RemoteReset = z.infer<typeof remoteResetSchema>;
