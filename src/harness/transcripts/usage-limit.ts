import { parseResetTime } from './reset-time.ts';

/** A notice that the account of an agent is over its usage limit (P10). */
export type UsageLimit = {
  /** The program's own sentence. */
  notice: string;
  /** When it was given, in milliseconds. */
  at: number;
  /** When the limit ends, in milliseconds; null when nothing tells. */
  resets_at: number | null;
  /** The limit is of one family of models, such as `opus`; null when the whole account is over it. */
  family: string | null;
};

/** What the end of a transcript says of the account: its last word counts. */
export type UsageSign =
  | { kind: 'limited'; limit: UsageLimit }
  | { kind: 'working'; at: number }
  | { kind: 'none' };

export const NO_SIGN: UsageSign = { kind: 'none' };
/** A limit that ends by itself within moments, and that the programs retry, is not meant. */
const LIMIT =
  /\b(?:hit|reached) your\b.{0,60}\blimit\b|\b(?:usage|session|weekly|5-hour|opus|sonnet) limit (?:has been )?reached\b|\bout of (?:your )?(?:extra )?usage\b/i;
const FAMILY = /\b(opus|sonnet|haiku|fable|mythos)\b[^·.]{0,20}\blimit\b/i;
/** Only a mode of answering is over its limit; the program goes on without it. */
const FAST = /\bfast limit\b/i;

/** Reads one notice of a program, given at a moment in milliseconds; `none` for one that tells of no usage limit. */
export function readUsageNotice(notice: string, at: number, zone: string): UsageSign {
  return isLimit(notice) ? limited({ notice, at, resets_at: parseResetTime(notice, at, zone) }) : NO_SIGN;
}

/** The sign of a limit, with the family of models that its notice names. */
export function limited(told: Omit<UsageLimit, 'family'>): UsageSign {
  const family = FAMILY.exec(told.notice)?.[1]?.toLowerCase() ?? null;
  return { kind: 'limited', limit: { ...told, family } };
}

/** Whether a sentence of a program says that its account is over a usage limit. */
export function isLimit(notice: string): boolean {
  // Some programs write a curly apostrophe or none.
  return (LIMIT.test(notice) || /\blimit\b.{0,200}\|\d{9,11}\b/.test(notice)) && !FAST.test(notice);
}
