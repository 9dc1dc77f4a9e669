import { z } from 'zod';
import { dryRunField } from './rehearsal.ts';

/** A fiber whose worker went down with its multiplexer server or with the machine. Times in milliseconds. */
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

/** Many workers' ends by one cause (P2): none is started again by itself. */
export const incidentSchema = z.object({
  id: z.string(),
  /** `server_replaced`: another server was there already when the loss of the first was seen. */
  cause: z.enum(['server_lost', 'server_replaced', 'reboot']),
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
});
export type IncidentReply = z.infer<typeof incidentReplySchema>;
