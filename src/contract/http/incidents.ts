import { z } from 'zod';
import { dryRunField } from './rehearsal.ts';

/** A fiber whose worker went down with its multiplexer server or the machine, or for its memory. Times in milliseconds. */
export const cutOffFiberSchema = z.object({
  fiber_id: z.string(),
  uid: z.string(),
  store: z.string(),
  run_id: z.string(),
  mux_session: z.string(),
  session_uuid: z.string().nullable(),
  lost_at: z.number(),
  /** Why it was refused when it was last to be started again; null before that. */
  refused: z.string().nullable(),
});
export type CutOffFiber = z.infer<typeof cutOffFiberSchema>;

/**
 * Workers' ends by one cause (P2). None is started again by itself, except one that was killed for its memory
 * (`memory_limit`): that is tried again like after any other death, and its incident is over then.
 */
export const incidentSchema = z.object({
  id: z.string(),
  /** `server_replaced`: another server was there already when the loss of the first was seen. */
  cause: z.enum(['server_lost', 'server_replaced', 'reboot', 'memory_limit']),
  /** What happened, where the cause alone does not say it. */
  message: z.string().optional(),
  at: z.number(),
  fibers: z.array(cutOffFiberSchema),
});
export type Incident = z.infer<typeof incidentSchema>;

/** `POST /incidents/resume` and `/incidents/dismiss`: one incident, or all without an id. */
export const incidentRequestSchema = z.object({
  id: z.string().optional(),
  origin: z.string().optional(),
  dry_run: dryRunField,
});
export type IncidentRequest = z.infer<typeof incidentRequestSchema>;

/** What became of each fiber; a refused one stays in its incident. */
export const incidentReplySchema = z.object({
  fibers: z.array(
    z.object({
      fiber_id: z.string(),
      outcome: z.enum(['started', 'running', 'not_armed', 'refused', 'dismissed']),
      message: z.string().nullable(),
    }),
  ),
  incidents: z.array(incidentSchema),
  /** Why the list is as it was once the daemon is started anew, and the mend; absent where the change lasts. */
  fault: z.string().optional(),
});
export type IncidentReply = z.infer<typeof incidentReplySchema>;
