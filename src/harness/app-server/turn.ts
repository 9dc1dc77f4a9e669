import { z } from 'zod';
import { cutSaid } from '../transcripts/last-said.ts';

/** The fields of a turn that we use, as the app server reports them. */
export const turnSchema = z.object({
  id: z.string(),
  status: z.string(),
  error: z.looseObject({ message: z.string() }).nullish(),
  items: z.array(
    z.looseObject({ type: z.string(), clientId: z.string().nullish(), text: z.string().nullish() }),
  ),
});

/** A turn of an app conversation; texts are cut to what a row shows. */
export type AppTurn = {
  failed: boolean;
  /** The reason that the app server gives for a failure; null where it gives none. */
  error: string | null;
  /** What the agent said last in it; null if it said nothing. */
  said: string | null;
};

export function readTurn({ status, error, items }: z.infer<typeof turnSchema>): AppTurn {
  const said = items.findLast(({ type, text }) => type === 'agentMessage' && text?.trim());
  return {
    failed: status === 'failed',
    error: error?.message.trim() ? cutSaid(error.message.trim()) : null,
    said: said?.text ? cutSaid(said.text.trim()) : null,
  };
}

/** How far a message came in a conversation. */
export type MessageStage = 'submitted' | 'accepted';

/** Looks for a message and for words of the agent after it; the newest turn is first, the items are in their order. */
export function stageInTurns(
  turns: readonly Pick<z.infer<typeof turnSchema>, 'items'>[],
  message_id: string,
): MessageStage | null {
  const items = turns.toReversed().flatMap((turn) => turn.items);
  const at = items.findIndex((item) => item.clientId === message_id);
  if (at === -1) return null;
  const answered = items.slice(at + 1).some(({ type, text }) => type === 'agentMessage' && text?.trim());
  return answered ? 'accepted' : 'submitted';
}
