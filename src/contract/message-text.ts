import type { StoredFile } from './http/attachments.ts';
import { canonicalAddress } from './session-address.ts';

/**
 * The lines around a message. `nonce`: random, in its first and last line, and known to nobody before the message is
 * given, so that no text can end its own message or begin another one. Null for a message that was kept before there
 * were nonces, and whose lines have none.
 */
export type Framed = { message_id: string; nonce: string | null };

/** What only the text of this message contains; a transcript is searched for it. */
export function markerOf({ message_id, nonce }: Framed): string {
  return `[message ${message_id} ${endsWith(nonce)}from `;
}

function endsWith(nonce: string | null): string {
  return nonce === null ? '' : `(ends with ${nonce}) `;
}

/** Each part is bounded, so that a long text of brackets takes no longer than another one. */
const BEGINNING = /\[message (?:([\w.-]{1,64}) )?(?:\(ends with (\w{1,64})\) )?from ([^[\]\n]{1,300})\]/g;
/** Beginnings without an end in one text whose ends are looked for; what follows counts as said. */
const MOST_UNENDED = 64;

/**
 * Whether a text has the message with this marker: not where another message, which is whole in the text, quotes it. A
 * program may submit several messages as one text, and a person may have typed something before them.
 */
export function hasMessage(text: string, marker: string): boolean {
  if (!text.includes(marker)) return false;
  let from = 0;
  let unended = 0;
  for (const { index, 0: beginning, 1: message_id, 2: nonce = null, 3: sender = '' } of text.matchAll(
    BEGINNING,
  )) {
    if (index < from) continue;
    if (beginning.startsWith(marker)) return true;
    const end = lastLine({ from: sender, message_id, nonce });
    const at = text.indexOf(end, index);
    if (at !== -1) from = at + end.length;
    else if (++unended === MOST_UNENDED) break;
  }
  // A program may have cut the text within its first line.
  return text.includes(marker, from);
}

/**
 * The text that the agent reads: who writes, the text, its files, and how to answer a session. Its first and last
 * characters are plain words to every program: no command, no shell escape, no completion.
 */
export function textForAgent(
  message: Framed & { from: string; text: string; files: readonly StoredFile[] },
): string {
  const { from, text, files } = message;
  const attached = files.map(
    ({ path, size, sha256 }) => `[file ${path} (${size} bytes, sha256 ${sha256})]\n`,
  );
  return `${markerOf(message)}${from}]\n${text}\n${attached.join('')}${lastLine(message)}`;
}

/** The text of somebody as a worker is started with it: no message of its own, so without an id. */
export function firstTextForAgent(said: { nonce: string; from: string; text: string }): string {
  const { nonce, from, text } = said;
  return `[message ${endsWith(nonce)}from ${from}]\n${text}\n${lastLine(said)}`;
}

/** The text within what an agent reads of a message; anything else as it is. */
export function textOfMessage(read: string): string {
  return (
    /^\[message [^[\]\n]*from [^[\]\n]*\]\n([\s\S]*)\n\[(?:\w+ )?(?:end of message|to answer)[^\]]*\]$/.exec(
      read,
    )?.[1] ?? read
  );
}

/**
 * The last line of a message, which has no id where a worker is started with it. An agent runs the command that it names,
 * so nothing but an address is in that.
 */
function lastLine(message: { from: string; message_id?: string | undefined; nonce: string | null }): string {
  const { from, message_id, nonce } = message;
  const mark = nonce === null ? '' : `${nonce} `;
  const which = message_id === undefined ? '' : ` ${message_id}`;
  const address = canonicalAddress(from);
  if (address === null) return `[${mark}end of message${which}]`;
  const answered = message_id === undefined ? '' : ` message${which}`;
  return `[${mark}to answer${answered}, run: svc send ${address} -]`;
}
