import { z } from 'zod';
import { HARNESS_NAMES } from '../harness-name.ts';

/** Whether an agent’s program has an account to work with; null where that cannot be told without starting it. */
const signInSchema = z.object({
  signed_in: z.boolean().nullable(),
  /** What signs it in; null if it is. */
  mend: z.string().nullable(),
});
export type SignIn = z.infer<typeof signInSchema>;

/** `GET /doctor`: the tools a worker needs, as the daemon's own environment resolves them, and who is signed in. */
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
  /** Each agent of the registry. */
  agents: z.array(signInSchema.extend({ id: z.string(), harness: z.enum(HARNESS_NAMES) })),
});
export type DoctorReply = z.infer<typeof doctorReplySchema>;
