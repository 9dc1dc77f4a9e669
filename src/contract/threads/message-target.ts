import { z } from 'zod';
import { HARNESS_NAMES } from '../harness-name.ts';
import { surfaceSchema } from '../surface.ts';

/** Which session of this host a message is for. */
export const messageTargetQuerySchema = z.object({ harness: z.enum(HARNESS_NAMES), native_id: z.string() });

/** A session of this host as the poller knows it. */
export const messageTargetSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('running'),
    fiber_id: z.string(),
    uid: z.string(),
    surface: surfaceSchema,
    /** Its session of the multiplexer, and the pane in it that its agent runs in; null on the app surface. */
    mux: z
      .object({ id: z.string(), name: z.string(), pane: z.object({ id: z.string(), pid: z.number() }) })
      .nullable(),
    /** How its conversation stands on the app surface; null for one in a terminal. */
    app: z.enum(['ready', 'starting', 'unreachable', 'missing']).nullable(),
    /** Path of its transcript; null if it has none yet. */
    transcript: z.string().nullable(),
  }),
  /** It ran here, and no worker is in it now. */
  z.object({ kind: z.literal('past') }),
  z.object({ kind: z.literal('none') }),
  /** A worker of its fiber is being started or ended; `detail` says which. */
  z.object({ kind: z.literal('moving'), detail: z.string() }),
  /** The multiplexer or a disk did not answer. */
  z.object({ kind: z.literal('unknown'), detail: z.string() }),
]);
export type MessageTarget = z.infer<typeof messageTargetSchema>;
