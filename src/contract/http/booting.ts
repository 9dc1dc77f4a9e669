import { z } from 'zod';

/** The 503 of every state-dependent route until all components have started (RDY-1, ERR-26). */
export const bootingSchema = z.object({
  error: z.literal('booting'),
  message: z.string(),
  ready: z.literal(false),
  /** Milliseconds since the process started. */
  boot_ms: z.number(),
  host: z.string(),
});
export type Booting = z.infer<typeof bootingSchema>;
