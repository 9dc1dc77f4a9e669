import { z } from 'zod';

/** `GET /doctor`: the tools a worker needs, as the daemon's own environment resolves them. */
export const doctorReplySchema = z.object({
  /** The daemon's `PATH`. */
  path: z.string(),
  tools: z.array(
    z.object({
      name: z.string(),
      /** Absolute path, or null if the daemon does not find it. */
      path: z.string().nullable(),
      version: z.string().nullable(),
    }),
  ),
});
export type DoctorReply = z.infer<typeof doctorReplySchema>;
