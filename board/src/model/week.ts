import { type Bucket, countsOf, MINUTE_MS, type Recorded, sharesOf, sumOf, within } from './activity.ts';
import { type Day, dayAfter, dayOf, startOf, stretchOf } from './days.ts';
import type { FiberRow } from './wire.ts';
import { timeIn } from './wording.ts';

/** What was done on one day. */
export type WeekDay = {
  day: Day;
  /** From midnight on, each of `SAMPLE_MINUTES`, against the most of the week: from 0 to 1; null where it is not known. */
  heights: readonly (number | null)[];
  /** Minutes in which an agent acted, added up over all of them as on its day; null while that is not read. */
  active: number | null;
  /** How often a person spoke. */
  spoke: number;
  closed: number;
};

export const SAMPLE_MINUTES = 10;

/** The days of the week of a day, from Monday on, without those that are to come. */
export function weekOf(day: Day, today: Day): Day[] {
  const weekday = (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7;
  const monday = dayAfter(day, -weekday);
  return Array.from({ length: 7 }, (_, nth) => dayAfter(monday, nth)).filter((one) => one <= today);
}

/** What was done on each day of a week, as far as it was read: `read` by day. */
export function weekDays(
  days: readonly Day[],
  read: ReadonlyMap<Day, Recorded>,
  rows: Iterable<Pick<FiberRow, 'status' | 'closed_at'>>,
): WeekDay[] {
  const closed = new Map<Day, number>();
  for (const { status, closed_at } of rows) {
    const at = status === 'closed' ? timeIn(closed_at) : null;
    if (at !== null) closed.set(dayOf(at), (closed.get(dayOf(at)) ?? 0) + 1);
  }
  const [first = '', last = ''] = [days[0], days.at(-1)];
  const stretch = { from: startOf(first), to: stretchOf(last).to };
  const buckets = [...read.values()].flatMap((one) => one.buckets);
  const work = countsOf(buckets, 'agent');
  const words = countsOf(buckets, 'attention');
  const samples = Math.ceil((stretch.to - stretch.from) / MINUTE_MS / SAMPLE_MINUTES);
  const heights = sharesOf(work, stretch, samples);
  const sampleAt = (ms: number) => Math.round((ms - stretch.from) / MINUTE_MS / SAMPLE_MINUTES);
  return days.map((day) => {
    const { from, to } = stretchOf(day);
    const known = read.get(day);
    const [begin, end] = known === undefined ? [0, 0] : [sampleAt(known.from), sampleAt(known.to)];
    const isKnown = (nth: number) => nth >= begin && nth < end;
    return {
      day,
      heights: heights
        .slice(sampleAt(from), sampleAt(to))
        .map((height, nth) => (isKnown(sampleAt(from) + nth) ? height : null)),
      active: known === undefined ? null : minutesOf(known.buckets),
      spoke: sumOf(within(words, { from, to })),
      closed: closed.get(day) ?? 0,
    };
  });
}

function minutesOf(buckets: readonly Bucket[]): number {
  return new Set(buckets.flatMap(({ m, s, k }) => (k === 'agent' ? [`${m} ${s}`] : []))).size;
}
