import { textForAgent } from '../contract/message-text.ts';
import type { SessionAddress } from '../contract/session-address.ts';
import type { OpenWay } from '../harness/harness.ts';
import type { DeliveryStep } from './delivery-plan.ts';
import type { DeliveryWorld } from './delivery-world.ts';
import { idInConversation, type MessageRecord } from './message-record.ts';

/** How a message is about to be given to its session. */
export type Handing = {
  /** Where its evidence will be; written to the disk before `hand` is called. */
  evidence: NonNullable<MessageRecord['evidence']>;
  /** Gives the text, once. */
  hand(): Promise<Handed>;
};

/**
 * What became of a text. `queued`: the program queued it behind its turn; `not_given`: nothing of it was given, and the
 * session may take it later; `refused`: it never will; `gone`: nothing of it was given, and nobody is in the session.
 */
type Handed =
  | { kind: 'given' | 'queued' | 'gone' }
  | { kind: 'unknown' | 'not_given' | 'refused'; detail: string };

type HandingStep = Extract<DeliveryStep, { kind: 'type' | 'hand' | 'give' }>;

/** The way of a step that gives its message; `way` is open for a step `hand`. */
export async function handingOf(
  world: DeliveryWorld,
  step: HandingStep,
  way: OpenWay | null,
  address: SessionAddress,
  record: MessageRecord,
): Promise<Handing> {
  const text = textForAgent(record);
  if (step.kind === 'give') {
    const message_id = idInConversation(record);
    const thread_id = address.native_id;
    return {
      evidence: { conversation: thread_id },
      hand: () => world.give({ thread_id, message_id, text }),
    };
  }
  const { transcript } = step.session;
  const place = { transcript, offset: await world.sizeOf(transcript) };
  if (step.kind === 'type') {
    const type = async (): Promise<Handed> => {
      const typed = await world.type(step.terminal, text);
      if (typed.kind === 'unknown') return typed;
      return { kind: typed.kind === 'pasted' ? 'given' : 'gone' };
    };
    return { evidence: place, hand: type };
  }
  return {
    evidence: { ...place, way: step.transport },
    hand: async () =>
      way?.give(text) ?? { kind: 'not_given', detail: 'the connection to its program was lost' },
  };
}
