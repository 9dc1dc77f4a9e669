import { z } from 'zod';
import { dryRunField } from './rehearsal.ts';

/** `POST /attach` (WPL-21): a live terminal session, or a past session by its harness id. */
export const attachRequestSchema = z
  .object({
    mux_session: z.string().min(1).optional(),
    session: z.string().min(1).optional(),
    /** The host that runs it; default: this one. */
    shuttle_host: z.string().min(1).optional(),
    dry_run: dryRunField,
  })
  .refine((request) => (request.mux_session === undefined) !== (request.session === undefined), {
    message: 'must name either a mux_session or a past session',
  });

export const attachedSchema = z.object({
  attached: z.literal(true),
  host: z.string(),
  mux_session: z.string(),
  /** The terminal emulator that shows it. */
  terminal: z.string(),
});
export type Attached = z.infer<typeof attachedSchema>;

/** `POST /sessions/resume` (WPL-22). */
export const resumeSessionRequestSchema = z.object({ session: z.string().min(1), dry_run: dryRunField });
export const resumedSessionSchema = z.object({ mux_session: z.string(), created: z.boolean() });
export type ResumedSession = z.infer<typeof resumedSessionSchema>;

/** How to reach another host by SSH. */
export const sshTargetSchema = z.object({ alias: z.string(), flags: z.array(z.string()) });
export type SshTarget = z.infer<typeof sshTargetSchema>;
