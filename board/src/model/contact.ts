import { lasting } from './wording.ts';

/** How the board stands with its daemon. Moments are milliseconds since the Unix epoch. */
export type Contact =
  | { kind: 'first_load' }
  /** Changes come as they happen. */
  | { kind: 'live' }
  /** The socket is down; changes are asked for every few seconds. */
  | { kind: 'polling' }
  /** The daemon sent nothing for so long that the copy may be old; the page asks for changes now. */
  | { kind: 'late' }
  | { kind: 'booting'; host: string; boot_ms: number }
  | { kind: 'gone'; retry_at: number }
  /** The daemon answers that it cannot tell now, with a sentence of its own. */
  | { kind: 'refused'; message: string; retry_at: number };

/** Between asking a daemon that does not answer. */
const RETRY_MS = [1_000, 2_000, 4_000, 8_000, 15_000] as const;
export const BOOTING_MS = 1_000;
/** How long the first rows have the page, and the daemon, for themselves. */
export const PAINT_MS = 100;
export const POLL_MS = 5_000;
/** Between questions while the socket is open. */
export const LIVE_ASK_MS = 15_000;

/** The daemon sends something over an open socket every second. A copy whose socket was silent for longer is late. */
export const SILENT_MS = 2_500;
/** Without a socket, a copy is late after this time: a browser lets a hidden page ask only once in a minute. */
export const LATE_MS = 90_000;
/** A timer that is late by more tells that the page itself was busy, and may not have read what it was sent. */
export const BUSY_MS = 250;

export function retryAfter(failures: number): number {
  return RETRY_MS[Math.min(Math.max(failures, 1), RETRY_MS.length) - 1] ?? BOOTING_MS;
}

/** Whether what the copy says of other hosts is still being told. */
export function isHeard({ kind }: Contact): boolean {
  return kind === 'live' || kind === 'polling';
}

/** What is said of a daemon that takes no writes now, as a sentence without its full stop; null of one that may. */
export function silenceOf(contact: Contact, host: string | null): string | null {
  if (contact.kind === 'gone') return `No answer from ${host ?? 'this daemon'}`;
  return contact.kind === 'booting' ? `${contact.host} is starting` : null;
}

/** The age from which a copy that is only polled is told with its age, in milliseconds. */
const FRESH_MS = 20_000;

/** How fresh what is shown of a host is; `age` of the copy in milliseconds, null before the first. */
export function freshness({ kind }: Contact, age: number | null): string {
  if (kind === 'live') return 'live';
  if (kind === 'gone') return 'no answer';
  if (kind === 'booting') return 'is starting';
  if (kind === 'late' && age !== null) return `silent for ${lasting(age)}`;
  return age === null || age < FRESH_MS ? 'every few seconds' : `${lasting(age)} old`;
}
