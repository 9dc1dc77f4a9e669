import { z } from 'zod';

/** A message for an app conversation of this host; `text` is what the agent reads. */
export const appMessageSchema = z.object({ thread_id: z.string(), message_id: z.string(), text: z.string() });
export type AppMessage = z.infer<typeof appMessageSchema>;

/** What became of it. With `given` and `unknown` it must not be given again. */
export const appMessageOutcomeSchema = z.discriminatedUnion('kind', [
  /** The app server answered that it took the message. */
  z.object({ kind: z.literal('given') }),
  /** The app server may have taken it. */
  z.object({ kind: z.literal('unknown'), detail: z.string() }),
  /** Nothing of it reached the app server, which may be back later. */
  z.object({ kind: z.literal('not_given'), detail: z.string() }),
  z.object({ kind: z.literal('refused'), detail: z.string() }),
  /** No worker is in the conversation any more, or the app server has no such conversation. */
  z.object({ kind: z.literal('gone') }),
]);
export type AppMessageOutcome = z.infer<typeof appMessageOutcomeSchema>;

export const appMessageQuerySchema = appMessageSchema.omit({ text: true });
export type AppMessageQuery = z.infer<typeof appMessageQuerySchema>;

/** What the conversation shows of a message: nothing, the message, or an answer of the agent after it. */
export const appMessageStageSchema = z.object({ stage: z.enum(['submitted', 'accepted']).nullable() });
export type AppMessageStage = z.infer<typeof appMessageStageSchema>['stage'];
