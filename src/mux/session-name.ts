import { CodedError } from '../base/errors.ts';

/** Session that keeps a server running and that our control client attaches to; never a worker [DSP-10]. */
export const ANCHOR_SESSION = 'svc-anchor';

const LEAF_BYTES = 80;
const ULID = '[0-9A-HJKMNP-TV-Z]{26}';
const WORKER = new RegExp(`^(.*)-(${ULID})-svc$`);

/**
 * The session name of a fiber's worker, `<leaf>-<uid>-svc` [DSP-9]. tmux rewrites `.`, `:`, `$` and control
 * characters, expands `#`, and reads a leading `-` as an option; such characters of the leaf become `_`, and
 * at most 80 bytes of it are kept. The identity is the uid. Throws `uid_missing` for anything but a ULID.
 */
export function workerSessionName(leaf: string, uid: string): string {
  if (!new RegExp(`^${ULID}$`).test(uid)) {
    throw new CodedError('uid_missing', 'The fiber has no ULID `id`; give it one before dispatching it.');
  }
  const safe = leaf
    .replaceAll(/[^A-Za-z0-9_-]/gu, '_')
    .replace(/^-/, '_')
    .slice(0, LEAF_BYTES);
  return `${safe || '_'}-${uid}-svc`;
}

/** The leaf (as written in the name) and uid of a worker's session name; null for every other session [DSP-10]. */
export function parseWorkerSessionName(name: string): { leaf: string; uid: string } | null {
  const [, leaf, uid] = WORKER.exec(name) ?? [];
  return leaf === undefined || uid === undefined ? null : { leaf, uid };
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

/** True for a name that tmux keeps as it is and that means nothing in its formats and targets. */
export function isPlainSessionName(name: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9_-]{0,199}$/.test(name);
}
