import type { HarnessName } from '../../contract/harness-name.ts';
import { asTable } from '../table.ts';
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

type JsonRecord = Record<string, unknown>;

const NONE: UsageSign = { kind: 'none' };
/** A limit that ends by itself within moments, and that the programs retry, is not meant. */
const LIMIT =
  /\b(?:hit|reached) your\b.{0,60}\blimit\b|\b(?:usage|session|weekly|5-hour|opus|sonnet) limit (?:has been )?reached\b|\bout of (?:your )?(?:extra )?usage\b/i;
const FAMILY = /\b(opus|sonnet|haiku|fable|mythos)\b[^·.]{0,20}\blimit\b/i;
/** Only a mode of answering is over its limit; the program goes on without it. */
const FAST = /\bfast limit\b/i;

/** Reads the records of a transcript's end, newest first. `zone`: where times without a zone were written. */
export function readUsageSign(harness: HarnessName, newest: Iterable<JsonRecord>, zone: string): UsageSign {
  switch (harness) {
    case 'claude':
      return claudeSign(newest, zone);
    case 'codex':
      return codexSign(newest, zone);
    case 'pi':
      return piSign(newest, zone);
  }
}

/** Reads one notice of a program, given at a moment in milliseconds; `none` for one that tells of no usage limit. */
export function readUsageNotice(notice: string, at: number, zone: string): UsageSign {
  return isLimit(notice) ? limited({ notice, at, resets_at: parseResetTime(notice, at, zone) }) : NONE;
}

function claudeSign(newest: Iterable<JsonRecord>, zone: string): UsageSign {
  for (const record of newest) {
    if (record.type !== 'assistant') continue;
    const at = timeOf(record);
    if (record.isApiErrorMessage !== true) return { kind: 'working', at };
    const notice = textOf(asTable(record.message).content);
    const sign = readUsageNotice(notice, at, zone);
    if (sign.kind !== 'none') return sign;
  }
  return NONE;
}

/** Codex tells the limit in one record and the windows with their ends in another, a few records away. */
function codexSign(newest: Iterable<JsonRecord>, zone: string): UsageSign {
  let windows: JsonRecord | null = null;
  let found: { notice: string; at: number } | null = null;
  for (const record of newest) {
    const payload = asTable(record.payload);
    if (payload.type === 'token_count' && windows === null && isTable(payload.rate_limits))
      windows = payload.rate_limits;
    if (found === null) {
      const error = payload.type === 'task_complete' ? asTable(payload.error) : payload;
      const told = payload.type === 'task_complete' || payload.type === 'error';
      if (told && error.codex_error_info === 'usage_limit_exceeded')
        found = { notice: String(error.message ?? 'usage limit exceeded'), at: timeOf(record) };
      else if (isCodexProgress(payload)) return { kind: 'working', at: timeOf(record) };
    }
    if (found !== null && windows !== null) break;
  }
  if (found === null) return NONE;
  const resets_at = endOfWindows(windows, found.at) ?? parseResetTime(found.notice, found.at, zone);
  return limited({ ...found, resets_at });
}

function isCodexProgress(payload: JsonRecord): boolean {
  const done = payload.type === 'task_complete' && !isTable(payload.error);
  const said = payload.type === 'message' && payload.role === 'assistant';
  return done || said || payload.type === 'function_call' || payload.type === 'custom_tool_call';
}

/** The last end among the windows that are used up. */
function endOfWindows(windows: JsonRecord | null, at: number): number | null {
  const ends = [windows?.primary, windows?.secondary].flatMap((one): number[] => {
    const { used_percent, resets_at, resets_in_seconds } = asTable(one);
    if (typeof used_percent !== 'number' || used_percent < 100) return [];
    if (typeof resets_at === 'number') return [resets_at * 1000];
    return typeof resets_in_seconds === 'number' ? [at + resets_in_seconds * 1000] : [];
  });
  return ends.length === 0 ? null : Math.max(...ends);
}

function piSign(newest: Iterable<JsonRecord>, zone: string): UsageSign {
  for (const record of newest) {
    const message = asTable(record.message);
    if (record.type !== 'message' || message.role !== 'assistant') continue;
    const at = timeOf(record);
    if (message.stopReason === 'aborted') continue;
    if (message.stopReason !== 'error') return { kind: 'working', at };
    const notice = String(message.errorMessage ?? '');
    if (!isLimit(notice) && !notice.includes('usage_limit_reached')) continue;
    const seconds = /"resets_at": ?(\d{9,11})\b/.exec(notice)?.[1];
    const resets_at = seconds === undefined ? parseResetTime(notice, at, zone) : Number(seconds) * 1000;
    return limited({ notice, at, resets_at });
  }
  return NONE;
}

function limited(told: Omit<UsageLimit, 'family'>): UsageSign {
  const family = FAMILY.exec(told.notice)?.[1]?.toLowerCase() ?? null;
  return { kind: 'limited', limit: { ...told, family } };
}

/** Whether a sentence of a program says that its account is over a usage limit. */
export function isLimit(notice: string): boolean {
  // Some programs write a curly apostrophe or none.
  return (LIMIT.test(notice) || /\blimit\b.{0,200}\|\d{9,11}\b/.test(notice)) && !FAST.test(notice);
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((block) => String(asTable(block).text ?? '')).join('') : '';
}

function timeOf(record: JsonRecord): number {
  const at = Date.parse(String(record.timestamp ?? ''));
  return Number.isNaN(at) ? 0 : at;
}

function isTable(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
