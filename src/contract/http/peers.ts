import { z } from 'zod';
import { surfaceSchema } from '../surface.ts';
import { flagSchema } from './bounded.ts';

export const peersQuerySchema = z.object({ local: flagSchema.optional() });

/** `GET /peers` (REC-4): the sessions that can be written to. */
export const peersSchema = z.object({
  host: z.string(),
  sessions: z.array(
    z.object({
      /** `svc://HOST/HARNESS/NATIVE_ID`, with the routing alias and the canonical name (RPL-25). */
      address: z.string(),
      fiber: z.string(),
      fiber_uid: z.string().nullable(),
      /** The id of its transcript, where that differs from the native id. */
      transcript_id: z.string().optional(),
      surface: surfaceSchema,
      agent: z.string(),
      phase: z.string(),
    }),
  ),
  /** Hosts whose sessions are not listed, each with the code of the reason, and with a sentence where there is more to say. */
  gaps: z.array(z.object({ host: z.string(), error: z.string(), message: z.string().optional() })),
});
export type Peers = z.infer<typeof peersSchema>;
