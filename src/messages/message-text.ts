import type { StoredFile } from '../contract/http/attachments.ts';
import { looksLikeAddress } from '../contract/session-address.ts';

/** What only the text of this message contains; a transcript is searched for it. */
export function markerOf(message_id: string): string {
  return `[message ${message_id} from `;
}

/**
 * The text that the agent reads: who writes, the text, its files, and how to answer a session. Its first and last
 * characters are plain words to every program: no command, no shell escape, no completion.
 */
export function textForAgent(message: {
  message_id: string;
  from: string;
  text: string;
  files: readonly StoredFile[];
}): string {
  const { message_id, from, text, files } = message;
  const answer = looksLikeAddress(from)
    ? `to answer, run: svc send ${from} -`
    : `end of message ${message_id}`;
  const attached = files.map(
    ({ path, size, sha256 }) => `[file ${path} (${size} bytes, sha256 ${sha256})]\n`,
  );
  return `${markerOf(message_id)}${from}]\n${text}\n${attached.join('')}[${answer}]`;
}
