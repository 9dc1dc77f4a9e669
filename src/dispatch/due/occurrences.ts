import { CronExpressionParser } from 'cron-parser';
import { offsetAt } from '../../base/zone-offset.ts';

/** More than any change of the clocks moves them. */
const MARGIN_MS = 4 * 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The first occurrence of a cron schedule after a moment, both in milliseconds since the Unix epoch. The schedule is
 * read on the wall clock of its zone, and what the clock on the wall shows is then found in time (P30): a local time that
 * is skipped comes as much later as the clocks were moved, one that is repeated comes once. A schedule of every hour
 * goes on through a repeated hour, since it means an interval. Throws what the parser throws.
 */
export function occurrenceAfter(schedule: string, zone: string, after: number): number {
  const from = after + offsetAt(zone, after) - MARGIN_MS;
  const walls = CronExpressionParser.parse(schedule, { currentDate: new Date(from), tz: 'UTC' });
  const everyHour = walls.fields.hour.values.length === 24;
  let first = Number.POSITIVE_INFINITY;
  for (;;) {
    const wall = walls.next().getTime();
    const instants = instantsOf(wall, zone);
    for (const at of everyHour ? instants : instants.slice(0, 1)) if (at > after) first = Math.min(first, at);
    if (instants[0]! > first + MARGIN_MS) return first;
  }
}

/** When the clocks of a zone show a wall time, given as if it were UTC; never empty, earliest first. */
function instantsOf(wall: number, zone: string): number[] {
  const [before, later] = [offsetAt(zone, wall - DAY_MS), offsetAt(zone, wall + DAY_MS)];
  const shown = [...new Set([wall - before, wall - later])].filter((at) => at + offsetAt(zone, at) === wall);
  return shown.length > 0 ? shown.sort((a, b) => a - b) : [wall - before];
}
