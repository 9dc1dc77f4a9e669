import type { StoredFile } from './http/attachments.ts';
import { canonicalAddress } from './session-address.ts';

/** What only the text of this message contains; a transcript is searched for it. */
export function markerOf(message_id: string): string {
  return `[message ${message_id} from `;
}

/** Each part is bounded, so that a long text of brackets takes no longer than another one. */
const BEGINNING = /\[message (?:([\w.-]{1,64}) )?from ([^[\]\n]{1,300})\]/g;
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
  for (const { index, 0: beginning, 1: message_id, 2: sender = '' } of text.matchAll(BEGINNING)) {
    if (index < from) continue;
    if (beginning.startsWith(marker)) return true;
    const end = lastLine(sender, message_id);
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
export function textForAgent(message: {
  message_id: string;
  from: string;
  text: string;
  files: readonly StoredFile[];
}): string {
  const { message_id, from, text, files } = message;
  const attached = files.map(
    ({ path, size, sha256 }) => `[file ${path} (${size} bytes, sha256 ${sha256})]\n`,
  );
  const end = lastLine(from, message_id);
  return `${markerOf(message_id)}${from}]\n${text}\n${attached.join('')}${end}`;
}

/** The text of somebody as a worker is started with it: no message of its own, so without an id. */
export function firstTextForAgent({ from, text }: { from: string; text: string }): string {
  return `[message from ${from}]\n${text}\n${lastLine(from)}`;
}

/** The text within what an agent reads of a message; anything else as it is. */
export function textOfMessage(read: string): string {
  return (
    /^\[message \S* ?from [^\]]*\]\n([\s\S]*)\n\[(?:end of message|to answer)[^\]]*\]$/.exec(read)?.[1] ??
    read
  );
}

/**
 * The last line of a message, which has no id where a worker is started with it. The id tells its end from that of another
 * message of the same sender. An agent runs the command that it names, so nothing but an address is in that.
 */
function lastLine(from: string, message_id?: string): string {
  const which = message_id === undefined ? '' : ` ${message_id}`;
  const address = canonicalAddress(from);
  if (address === null) return `[end of message${which}]`;
  return message_id === undefined
    ? `[to answer, run: svc send ${address} -]`
    : `[to answer message${which}, run: svc send ${address} -]`;
}
