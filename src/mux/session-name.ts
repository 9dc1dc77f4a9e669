import { CodedError } from '../base/errors.ts';

/** Session that keeps a server running and that our control client attaches to; never a worker [DSP-10]. */
export const ANCHOR_SESSION = 'svc-anchor';

/** As long as a folder name in an id may be. */
const LEAF_BYTES = 200;
const MOST_NAME_BYTES = 240;
/**
 * Characters that a session name does not keep: tmux replaces `.` and `:` and escapes `$`, `\`, control characters, line
 * separators and code points without a character; a bidirectional control would reorder the line of a terminal.
 */
const NOT_KEPT = /[^\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\p{Cf}]|[.:$\\\p{Bidi_Control}]/gu;
const ULID = '[0-9A-HJKMNP-TV-Z]{26}';
const WORKER = new RegExp(`^(.*)-(${ULID})-svc$`);

/**
 * The session name of a fiber's worker, `<leaf>-<uid>-svc` [DSP-9]. Characters of the leaf that a name does not keep
 * become `_`, and at most 200 bytes of it are kept. The identity is the uid. Throws `uid_missing` for anything but a
 * ULID.
 */
export function workerSessionName(leaf: string, uid: string): string {
  if (!new RegExp(`^${ULID}$`).test(uid)) {
    throw new CodedError('uid_missing', 'The fiber has no ULID `id`; give it one before dispatching it.');
  }
  return `${firstBytes(leaf.replaceAll(NOT_KEPT, '_'), LEAF_BYTES) || '_'}-${uid}-svc`;
}

/** The beginning of a text that fits into this many bytes of UTF-8; no character is cut. */
function firstBytes(text: string, most: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(most));
  return text.slice(0, read);
}

/** The leaf (as written in the name) and uid of a worker's session name; null for every other session [DSP-10]. */
export function parseWorkerSessionName(name: string): { leaf: string; uid: string } | null {
  const [, leaf, uid] = WORKER.exec(name) ?? [];
  return leaf === undefined || uid === undefined ? null : { leaf, uid };
}

const ASIDE = '-not-ours';

/** What a session is called that had the name of a worker and is none: the first of these names that is free. */
export function nameAside(name: string, isTaken: (name: string) => boolean): string {
  let aside = `${name}${ASIDE}`;
  for (let count = 2; isTaken(aside); count += 1) aside = `${name}${ASIDE}-${count}`;
  return aside;
}

/** The uid of the fiber whose worker a session is named for, or was until another took the name; null for others. */
export function uidInName(name: string): string | null {
  return parseWorkerSessionName(name.replace(/-not-ours(-\d+)?$/, ''))?.uid ?? null;
}

/** True where `written` is this name as tmux escapes it for a character that its C library does not know. */
export function isEscaped(written: string, name: string): boolean {
  const bytes = Buffer.from(name).toString('latin1');
  const plain = Buffer.from(written)
    .toString('latin1')
    .replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
  return written !== name && plain === bytes;
}

/** True for the id of a conversation that programs print: it is part of session names and file names. */
export function isConversationId(id: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9_-]{0,199}$/.test(id);
}

/** The session name under which a past conversation is opened by hand. */
export function resumeSessionName(session_uuid: string): string {
  return `resume-${session_uuid}`;
}

/**
 * The session name of a capture, which has no fiber yet; differs from the names of workers and past sessions [DSP-10].
 */
export function captureSessionName(uuid: string): string {
  return `capture-${uuid}`;
}

/** True for a past conversation opened by hand and for the anchor: neither is ever a worker [DSP-10]. */
export function isNeverWorker(name: string): boolean {
  return name === ANCHOR_SESSION || name.startsWith('resume-');
}

/** True for a name that tmux keeps as it is. */
export function isSessionName(name: string): boolean {
  return name !== '' && Buffer.byteLength(name) <= MOST_NAME_BYTES && name.search(NOT_KEPT) === -1;
}
