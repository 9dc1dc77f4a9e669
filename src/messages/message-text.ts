import { looksLikeAddress } from '../contract/session-address.ts';

/** What only the text of this message contains; a transcript is searched for it. */
export function markerOf(message_id: string): string {
  return `[message ${message_id} from `;
}

/**
 * The text that the agent reads: who writes, the text, and how to answer a session. Its first and last characters are
 * plain words to every program: no command, no shell escape, no completion.
 */
export function textForAgent(message: { message_id: string; from: string; text: string }): string {
  const { message_id, from, text } = message;
  const answer = looksLikeAddress(from)
    ? `to answer, run: svc send ${from} -`
    : `end of message ${message_id}`;
  return `${markerOf(message_id)}${from}]\n${text}\n[${answer}]`;
}
