/** Size and time of the last change of each ledger file as last looked at; opaque, equal while nothing moved. */
export type LedgerStamps = { events: string; sessions: string; commits: string };

/** Whole minutes inside a window: `from_ms` up and `to_ms` down (TMP-1); empty when nothing is left. */
export function wholeMinutes(window: { from_ms: number; to_ms: number }): { from_ms: number; to_ms: number } {
  const from_ms = Math.ceil(window.from_ms / 60_000) * 60_000;
  return { from_ms, to_ms: Math.max(from_ms, Math.floor(window.to_ms / 60_000) * 60_000) };
}

/** Weak entity tag of a window of activity: the window and the files behind it (TMP-1). */
export function activityTag(window: { from_ms: number; to_ms: number }, stamps: LedgerStamps): string {
  return `W/"a.${window.from_ms}.${window.to_ms}.${stamps.events}"`;
}

export function sessionsTag(uid: string | undefined, stamps: LedgerStamps): string {
  return `W/"s.${part(uid)}.${stamps.sessions}"`;
}

export function commitsTag(stamps: LedgerStamps): string {
  return `W/"c.${stamps.commits}"`;
}

/** Files sent are joined to fibers through the sessions ledger, so both count. */
export function sentFilesTag(uid: string | undefined, stamps: LedgerStamps): string {
  return `W/"f.${part(uid)}.${stamps.events}.${stamps.sessions}"`;
}

/** A part of a query as characters that a tag may hold; `-` for none, which no encoded text is. */
function part(text: string | undefined): string {
  if (text === undefined) return '-';
  return `=${encodeURIComponent(text.toWellFormed())}`;
}
