import { hasMessage } from '../../contract/message-text.ts';
import type { MessageStage } from '../harness.ts';
import type { JsonRecord } from './said.ts';

/** How a program records messages that were typed into it. */
export type MessageRecords = {
  /** The text that a record queues behind the turn, or admits to it; null for every other record. */
  messageIn(record: JsonRecord): { stage: 'queued' | 'submitted'; text: string } | null;
  /** A real answer of the model to the main conversation, which includes calls of tools. */
  isAnswer(record: JsonRecord): boolean;
  /** The record that a record follows, where the transcript is a tree; default: all that came before it. */
  linkOf?(record: JsonRecord): { id: unknown; parent: unknown };
};

/**
 * The furthest stage of the message with `marker`, in records from oldest to newest. `accepted` needs an answer that
 * follows the message: a message that was taken back stays in the transcript without one.
 */
export function furthestStage(
  { messageIn, isAnswer, linkOf }: MessageRecords,
  records: readonly JsonRecord[],
  marker: string,
): MessageStage | null {
  let stage: MessageStage | null = null;
  const followers = new Set<unknown>();
  for (const record of records) {
    const { id, parent } = linkOf?.(record) ?? { id: true, parent: true };
    const message = messageIn(record);
    const follows = followers.has(parent);
    if (message !== null && holds(message.text, marker)) {
      if (message.stage === 'submitted') followers.add(id);
      stage = stage === 'submitted' ? stage : message.stage;
    } else if (follows) {
      if (isAnswer(record)) return 'accepted';
      followers.add(id);
    }
  }
  return stage;
}

/** Text in tags is what the program itself wrote: the output of a command, a notification, its context. */
function holds(text: string, marker: string): boolean {
  return hasMessage(text, marker) && !/^\s*<[a-z][\s\S]*<\/[\w-]+>\s*$/i.test(text);
}
