import { z } from 'zod';

/** The supervised components, in start order; stop order is the reverse (design: threads). */
export const COMPONENT_NAMES = ['pool', 'ledgers', 'fleet', 'audio', 'messages', 'poller'] as const;

/** One component as `GET /version` lists it. Times are milliseconds since the Unix epoch. */
export const componentViewSchema = z.object({
  name: z.string(),
  state: z.enum(['starting', 'running', 'restarting', 'failed', 'stopped']),
  restarts: z.number().int(),
  started_at: z.number().nullable(),
  last_error: z.string().nullable(),
});
export type ComponentView = z.infer<typeof componentViewSchema>;
