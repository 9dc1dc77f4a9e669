import { z } from 'zod';
import { dryRunField } from './rehearsal.ts';

/**
 * A fiber whose worker ended with its multiplexer server or the machine, or at its memory limit. Times in milliseconds.
 */
const cutOffFiberSchema = z.object({
  fiber_id: z.string(),
  uid: z.string(),
  store: z.string(),
  run_id: z.string(),
  mux_session: z.string(),
  session_uuid: z.string().nullable(),
  lost_at: z.number(),
  /** Why the last attempt to start it again was refused; null before that. */
  refused: z.string().nullable(),
});
export type CutOffFiber = z.infer<typeof cutOffFiberSchema>;

/**
 * Ends of workers by one cause (P2). They are not restarted automatically, except after a kill at the memory limit
 * (`memory_limit`): that worker is retried like after any other death, which closes the incident.
 */
export const incidentSchema = z.object({
  id: z.string(),
  /** `server_replaced`: another server was already running when the loss of the first was noticed. */
  cause: z.enum(['server_lost', 'server_replaced', 'reboot', 'memory_limit']),
  /** Details that the cause does not contain. */
  message: z.string().optional(),
  at: z.number(),
  fibers: z.array(cutOffFiberSchema),
});
export type Incident = z.infer<typeof incidentSchema>;

/**
 * `POST /incidents/resume` and `/incidents/dismiss`: one incident, or all without an id. `dismiss` takes the run id of an
 * ended capture too.
 */
export const incidentRequestSchema = z.object({
  id: z.string().optional(),
  origin: z.string().optional(),
  dry_run: dryRunField,
});
export type IncidentRequest = z.infer<typeof incidentRequestSchema>;

/**
 * The result for each fiber; a refused one stays in its incident. A `queued` one is started after the answer, and stays in its
 * incident until then.
 */
export const incidentReplySchema = z.object({
  fibers: z.array(
    z.object({
      fiber_id: z.string(),
      outcome: z.enum(['started', 'queued', 'running', 'not_armed', 'refused', 'dismissed']),
      message: z.string().nullable(),
    }),
  ),
  incidents: z.array(incidentSchema),
  /** Why the change will be lost at a restart of the daemon, and the fix; absent if it was saved. */
  fault: z.string().optional(),
});
export type IncidentReply = z.infer<typeof incidentReplySchema>;
