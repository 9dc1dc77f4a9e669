import type { Tokens } from '../../../contract/http/spend.ts';
import type { SessionLine } from '../../../contract/ledger.ts';

/** What usage is added up by. */
export const SPEND_KEYS = ['fiber', 'agent', 'day'] as const;
export type SpendKey = (typeof SPEND_KEYS)[number];

/** A session, whom it worked for last, and when it began. */
export type BegunSession = {
  session: string;
  uid: string | null;
  fiber: string | null;
  agent: string;
  began_at: number;
};

/** What the sum of some sessions is; null where nobody counted any of them. */
type SpendRow = { key: string; sessions: number; unknown: number; tokens: Tokens | null };
export type Tally = { rows: SpendRow[]; total: Tokens | null; unknown: number };

const NO_FIBER = '(no fiber)';

/**
 * The sessions that the ledger names and that began at that time or later, each once, oldest first. A fiber that was filed
 * elsewhere is called as the newest line calls it.
 */
export function begunSessions(lines: readonly SessionLine[], since: number): BegunSession[] {
  const known = new Map<string, BegunSession>();
  const names = new Map<string, string>();
  for (const { session, uid, fiber, agent, harness, at } of lines) {
    if (uid !== null && fiber !== null) names.set(uid, fiber);
    if (session === null) continue;
    const before = known.get(session);
    known.set(session, {
      session,
      // A capture has no fiber until it is claimed.
      uid: uid ?? before?.uid ?? null,
      fiber: fiber ?? before?.fiber ?? null,
      agent: agent ?? before?.agent ?? harness,
      began_at: Math.min(before?.began_at ?? at, at),
    });
  }
  return [...known.values()]
    .filter(({ began_at }) => began_at >= since)
    .map((one) => ({ ...one, fiber: (one.uid === null ? null : names.get(one.uid)) ?? one.fiber }))
    .sort((a, b) => a.began_at - b.began_at);
}

/** Adds up what these sessions used; a session that several fibers had counts once, for the last of them. */
export function tallySpend(
  begun: readonly BegunSession[],
  spent: ReadonlyMap<string, Tokens | null>,
  by: SpendKey,
): Tally {
  const rows = new Map<string, SpendRow>();
  for (const one of begun) {
    const key = keyOf(one, by);
    const row = rows.get(key) ?? { key, sessions: 0, unknown: 0, tokens: null };
    const tokens = spent.get(one.session) ?? null;
    rows.set(key, {
      key,
      sessions: row.sessions + 1,
      unknown: row.unknown + (tokens === null ? 1 : 0),
      tokens: added(row.tokens, tokens),
    });
  }
  const all = [...rows.values()];
  if (by === 'day') all.sort((a, b) => (a.key < b.key ? -1 : 1));
  else all.sort((a, b) => totalOf(b.tokens) - totalOf(a.tokens) || (a.key < b.key ? -1 : 1));
  return {
    rows: all,
    total: all.reduce<Tokens | null>((sum, { tokens }) => added(sum, tokens), null),
    unknown: all.reduce((sum, { unknown }) => sum + unknown, 0),
  };
}

function keyOf({ fiber, agent, began_at }: BegunSession, by: SpendKey): string {
  if (by === 'fiber') return fiber ?? NO_FIBER;
  return by === 'agent' ? agent : dayOf(began_at);
}

/** In the zone of this process. */
function dayOf(at: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function added(a: Tokens | null, b: Tokens | null): Tokens | null {
  if (a === null || b === null) return a ?? b;
  return {
    input: a.input + b.input,
    cache_read: a.cache_read + b.cache_read,
    cache_write: a.cache_write + b.cache_write,
    output: a.output + b.output,
  };
}

function totalOf(tokens: Tokens | null): number {
  return tokens === null ? -1 : tokens.input + tokens.cache_read + tokens.cache_write + tokens.output;
}
