import { z } from 'zod';

/** A session of this host to which context can be added, as the poller knows it. */
export const contextTargetSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('found'),
    fiber_id: z.string(),
    uid: z.string(),
    /** Path of its transcript; null if it has none yet. */
    transcript: z.string().nullable(),
    /** The state of the hooks in the home of its agent; null for an app conversation, which has none. */
    hooks: z.enum(['absent', 'current', 'outdated', 'elsewhere', 'gone', 'off']).nullable(),
    /** The command that installs them there; null where that is not known, or there are none. */
    setup: z.string().nullable(),
  }),
  /** No worker of this host has been in it. */
  z.object({ kind: z.literal('none') }),
  /** It has ended, and its conversation cannot be resumed. */
  z.object({ kind: z.literal('lost') }),
  /** A disk did not answer. */
  z.object({ kind: z.literal('unknown'), detail: z.string() }),
]);
export type ContextTarget = z.infer<typeof contextTargetSchema>;
