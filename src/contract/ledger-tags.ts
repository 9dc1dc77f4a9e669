import type { Closing } from './http/life.ts';

/** Size and modification time of each ledger file; opaque, equal while no file changed. */
export type LedgerStamps = { events: string; sessions: string; commits: string; messages: string };

/** A part of the life of one fiber, and what its document tells; null if that is gone. */
export type AskedLife = {
  uid: string;
  limit: number;
  before_ms?: number | undefined;
  closing: Closing | null;
};

/** The whole minutes inside a window: rounds `from_ms` up and `to_ms` down (TMP-1); may be empty. */
export function wholeMinutes(window: { from_ms: number; to_ms: number }): { from_ms: number; to_ms: number } {
  const from_ms = Math.ceil(window.from_ms / 60_000) * 60_000;
  return { from_ms, to_ms: Math.max(from_ms, Math.floor(window.to_ms / 60_000) * 60_000) };
}

/** Weak ETag of a window of activity, from the window and the files (TMP-1). */
export function activityTag(window: { from_ms: number; to_ms: number }, stamps: LedgerStamps): string {
  return `W/"a.${window.from_ms}.${window.to_ms}.${stamps.events}"`;
}

export function sessionsTag(uid: string | undefined, stamps: LedgerStamps): string {
  return `W/"s.${part(uid)}.${stamps.sessions}"`;
}

export function commitsTag(stamps: LedgerStamps): string {
  return `W/"c.${stamps.commits}"`;
}

/** Sent files are joined to fibers through the sessions ledger, so the tag covers both. */
export function sentFilesTag(uid: string | undefined, stamps: LedgerStamps): string {
  return `W/"f.${part(uid)}.${stamps.events}.${stamps.sessions}"`;
}

/** The life of a fiber comes from all files and from its document. */
export function lifeTag(asked: AskedLife, { events, sessions, commits, messages }: LedgerStamps): string {
  const { uid, limit, before_ms, closing } = asked;
  const { status, tempered, closed_at, updated_at } = closing ?? {};
  const document = JSON.stringify([status, tempered, closed_at, updated_at]);
  const question = `${part(uid)}.${limit}.${before_ms ?? '-'}.${part(document)}`;
  return `W/"l.${question}.${events}.${sessions}.${commits}.${messages}"`;
}

/** Encodes a part of a query with characters that are valid in a tag; `-` for none (no encoded text is `-`). */
function part(text: string | undefined): string {
  if (text === undefined) return '-';
  return `=${encodeURIComponent(text.toWellFormed())}`;
}
