import type { Tokens } from '../../../contract/http/spend.ts';
import { formatClock, formatTable } from '../../command-line/output.ts';
import type { SpendKey, Tally } from './tally.ts';

const UNITS = { h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/**
 * `24h`, `7d` or `4w` before now, the beginning of a day in the zone of this process, or null for `all`; undefined for what
 * is none of these.
 */
export function sinceOf(text: string, now: number): number | null | undefined {
  if (text === 'all') return null;
  const ago = /^(\d{1,5})([hdw])$/.exec(text);
  if (ago !== null) return now - Number(ago[1]) * UNITS[ago[2] as keyof typeof UNITS];
  const day = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)?.slice(1).map(Number);
  if (day === undefined) return undefined;
  const [year = 0, month = 0, date = 0] = day;
  const at = new Date(year, month - 1, date);
  return at.getMonth() === month - 1 && at.getDate() === date ? at.getTime() : undefined;
}

/** What sessions used, one line for each fiber, agent or day, and in all. */
export function spendPage(
  { host, by, since, rows, total, unknown }: Tally & { host: string; by: SpendKey; since: number | null },
  { width, now }: { width: number; now: number },
): string {
  const time = since === null ? '' : ` since ${formatClock(since, now)}`;
  if (rows.length === 0) return `No session began on ${host}${time}.\n`;
  const table = formatTable(
    [by, 'sessions', 'input', 'from cache', 'to cache', 'output'],
    [
      ...rows.map(({ key, sessions, tokens }) => [key, String(sessions), ...cells(tokens)]),
      ['in all', String(rows.reduce((sum, row) => sum + row.sessions, 0)), ...cells(total)],
    ],
    width,
  );
  const missing =
    unknown === 0
      ? ''
      : `${unknown === 1 ? '1 session is' : `${unknown} sessions are`} not counted: no transcript with counts is here.\n`;
  const head = `Tokens of the sessions that began on ${host}${time}, each with all that it used.\n`;
  return `${head}\n${table}${missing}`;
}

function cells(tokens: Tokens | null): string[] {
  if (tokens === null) return ['unknown', '', '', ''];
  return [tokens.input, tokens.cache_read, tokens.cache_write, tokens.output].map(briefCount);
}

/** `950`, `182 k`, `1.2 M`. */
export function briefCount(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 999_500) return `${Math.round(count / 1_000)} k`;
  return `${(count / 1_000_000).toFixed(count < 9_950_000 ? 1 : 0)} M`;
}
