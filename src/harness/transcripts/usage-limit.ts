import { parseResetTime } from './reset-time.ts';

/** A notice that an agent's account has reached its usage limit (P10). */
export type UsageLimit = {
  /** The program's own message. */
  notice: string;
  /** When it was given, in milliseconds. */
  at: number;
  /** When the limit ends, in milliseconds; null if unknown. */
  resets_at: number | null;
  /** The family of models that the limit is for, such as `opus`; null for the whole account. */
  family: string | null;
};

/** What the end of a transcript says about usage limits; the newest record decides. */
export type UsageSign =
  | { kind: 'limited'; limit: UsageLimit }
  | { kind: 'working'; at: number }
  | { kind: 'none' };

export const NO_SIGN: UsageSign = { kind: 'none' };
/** Matches no short rate limit, which programs retry themselves. */
const LIMIT =
  /\b(?:hit|reached) your\b.{0,60}\blimit\b|\b(?:usage|session|weekly|5-hour|opus|sonnet) limit (?:has been )?reached\b|\bout of (?:your )?(?:extra )?usage\b/i;
const FAMILY = /\b(opus|sonnet|haiku|fable|mythos)\b[^·.]{0,20}\blimit\b/i;
/** A limit of one answering mode; the program continues without that mode. */
const FAST = /\bfast limit\b/i;

/** Reads a notice of a program that was given at a time in milliseconds; `none` if it names no usage limit. */
export function readUsageNotice(notice: string, at: number, zone: string): UsageSign {
  return isLimit(notice) ? limited({ notice, at, resets_at: parseResetTime(notice, at, zone) }) : NO_SIGN;
}

/** The sign of a limit, with the family of models in its notice. */
export function limited(told: Omit<UsageLimit, 'family'>): UsageSign {
  const family = FAMILY.exec(told.notice)?.[1]?.toLowerCase() ?? null;
  return { kind: 'limited', limit: { ...told, family } };
}

/** True if a message says that the account has reached a usage limit. */
export function isLimit(notice: string): boolean {
  // Some programs use a curly apostrophe or none.
  return (LIMIT.test(notice) || /\blimit\b.{0,200}\|\d{9,11}\b/.test(notice)) && !FAST.test(notice);
}
