import { offsetAt } from '../../base/zone-offset.ts';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAY_MS = 86_400_000;
/** A notice may arrive this long after the time that it names, in milliseconds. */
const LATE_MS = 5 * 60_000;

const DATE = String.raw`(?:(?<month>[a-z]{3})[a-z]* (?<day>\d{1,2})(?:st|nd|rd|th)?,?(?: (?<year>\d{4}),?)?(?: at)? )?`;
const TIME = String.raw`(?<hour>\d{1,2})(?::(?<minute>\d{2}))? ?(?<half>[ap]m)(?: \((?<zone>[^)]+)\))?`;
const WALL = new RegExp(String.raw`\b(?:resets?(?: at)?|try again at) ${DATE}${TIME}`, 'i');
const EPOCH = /\|(?<seconds>\d{9,11})\b/;
const SPAN = /\btry again in (?<span>(?:\d+ (?:day|hour|minute|second)s?,? ?)+)/i;
const UNITS: Record<string, number> = { day: DAY_MS, hour: 3_600_000, minute: 60_000, second: 1_000 };

/**
 * The end of a usage limit in milliseconds, from the notice of an agent program and the time at which it was given;
 * null if the notice names none. `zone`: the time zone of a notice without one.
 */
export function parseResetTime(notice: string, at: number, zone: string): number | null {
  const epoch = EPOCH.exec(notice)?.groups?.seconds;
  if (epoch !== undefined) return Number(epoch) * 1000;
  const span = SPAN.exec(notice)?.groups?.span;
  if (span !== undefined) return at + spanOf(span);
  const wall = WALL.exec(notice)?.groups;
  return wall === undefined ? null : wallTime(wall, at, zone);
}

function spanOf(text: string): number {
  return [...text.matchAll(/(\d+) (day|hour|minute|second)/gi)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (UNITS[unit?.toLowerCase() ?? ''] ?? 0),
    0,
  );
}

type Named = Record<string, string | undefined>;

function wallTime(named: Named, at: number, localZone: string): number | null {
  const zone = isZone(named.zone) ? named.zone : localZone;
  const hour = (Number(named.hour) % 12) + (named.half?.toLowerCase() === 'pm' ? 12 : 0);
  const minute = Number(named.minute ?? 0);
  if (Number(named.hour) > 12 || minute > 59) return null;
  const today = dateIn(zone, at);
  if (named.month === undefined) {
    const first = instantOf(zone, { ...today, hour, minute });
    return first > at - LATE_MS ? first : instantOf(zone, { ...dateIn(zone, at + DAY_MS), hour, minute });
  }
  const month = MONTHS.indexOf(named.month.toLowerCase());
  if (month === -1) return null;
  const day = Number(named.day);
  const year = named.year === undefined ? today.year : Number(named.year);
  const named_at = instantOf(zone, { year, month, day, hour, minute });
  // A notice given in December about a day in January.
  if (named.year === undefined && named_at < at - 180 * DAY_MS)
    return instantOf(zone, { year: year + 1, month, day, hour, minute });
  return named_at;
}

type Wall = { year: number; month: number; day: number; hour: number; minute: number };

/**
 * The time at which clocks of a zone show this; for a clock time that is skipped or repeated, one of its two meanings.
 */
function instantOf(zone: string, { year, month, day, hour, minute }: Wall): number {
  const shown = Date.UTC(year, month, day, hour, minute);
  const guess = shown - offsetAt(zone, shown);
  return shown - offsetAt(zone, guess);
}

function dateIn(zone: string, at: number): Pick<Wall, 'year' | 'month' | 'day'> {
  const shown = new Date(at + offsetAt(zone, at));
  return { year: shown.getUTCFullYear(), month: shown.getUTCMonth(), day: shown.getUTCDate() };
}

function isZone(name: string | undefined): name is string {
  if (name === undefined) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
