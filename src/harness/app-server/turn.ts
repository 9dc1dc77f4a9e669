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
