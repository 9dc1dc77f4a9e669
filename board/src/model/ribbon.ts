import {
  HOUR_MS,
  MINUTE_MS,
  type Recorded,
  type Stretch,
  sharesOf,
  sumOf,
  type Trace,
  within,
} from './activity.ts';
import type { Card } from './card.ts';
import { dayOf, hoursIn } from './days.ts';
import { shortDay, timeOfDay } from './wording.ts';

const PAST_MS = 4 * HOUR_MS;
const COMING_MS = 20 * HOUR_MS;
/** Launches that are closer than this to each other share a pin. */
const PIN_PX = 14;
/** Of one character of a label, on average. */
const CHARACTER_PX = 6.5;
const GAP_PX = 10;
/** What stands beside the line of now, and at the beginning of a day. */
const NOW_PX = 76;
const DAY_PX = 49;
/** From the beginning of a day to its name. */
const DAY_GAP_PX = 7;

export type Launch = { id: string; origin: string; title: string; at: number };

/** Launches at one place. `row` of their label: 0 close to the line, 1 above that, null for no room. */
export type Pin = {
  x: number;
  launches: readonly Launch[];
  label: string;
  row: 0 | 1 | null;
  toward: 'left' | 'right';
};

/** The past hours joined to the coming ones, drawn on so many pixels; `x` in pixels, heights from 0 to 1. */
export type RibbonShape = {
  now: number;
  curve: readonly { x: number; height: number }[];
  ticks: readonly number[];
  unknown: readonly { from: number; to: number }[];
  hours: readonly { x: number; text: string }[];
  /** The day that begins within it, and where its name is, beside the words of now; null where there is no room. */
  tomorrow: { x: number; name: { x: number; text: string } | null } | null;
  pins: readonly Pin[];
  /** Says the past in words. */
  label: string;
};

/** The next launch of each of these cards that has one. */
export function launchesOf(cards: readonly Card[]): Launch[] {
  return cards.flatMap(({ id, origin, title, next_at }) =>
    next_at === null ? [] : { id, origin, title, at: next_at },
  );
}

export function ribbonShape(
  recent: { known: Recorded; all: Trace } | null,
  launches: readonly Launch[],
  now: number,
  width: number,
): RibbonShape {
  const window: Stretch = { from: now - PAST_MS, to: now + COMING_MS };
  const x = (ms: number) => ((ms - window.from) / (window.to - window.from)) * width;
  const next_day = hoursIn(window, 24).find(({ at }) => at > now);
  const tomorrow = next_day === undefined ? null : dayAt(next_day.at, now, x, width);
  return {
    now: x(now),
    ...pastOf(recent, now, x),
    hours: hoursIn(window, 3).map(({ at, hour }) => ({ x: x(at), text: String(hour).padStart(2, '0') })),
    tomorrow,
    pins: pinsOf(launches, window, now, width, tomorrow),
  };
}

function dayAt(at: number, now: number, x: (ms: number) => number, width: number) {
  const from = Math.max(x(at) + DAY_GAP_PX, x(now) + NOW_PX);
  const name = { x: from, text: shortDay(dayOf(at), dayOf(now)) };
  return { x: x(at), name: from + DAY_PX > width ? null : name };
}

function pastOf(recent: { known: Recorded; all: Trace } | null, now: number, x: (ms: number) => number) {
  const begin = now - PAST_MS;
  if (recent === null)
    return { curve: [], ticks: [], unknown: [], label: 'The past 4 hours are not read yet.' };
  const { known, all } = recent;
  const from = Math.floor(Math.max(begin, known.from) / MINUTE_MS) * MINUTE_MS;
  const to = Math.max(from, Math.min(now, known.to));
  const work = within(all.work, { from, to });
  const words = within(all.words, { from, to });
  const curve = sharesOf(work, { from, to }, Number.POSITIVE_INFINITY).map((height, minute) => ({
    x: x(Math.min(to, from + (minute + 0.5) * MINUTE_MS)),
    height,
  }));
  return {
    curve: curve.length === 0 ? [] : [{ x: x(Math.max(begin, from)), height: 0 }, ...curve],
    ticks: words.map(({ m }) => x(m + MINUTE_MS / 2)),
    unknown: [
      ...(from > begin ? [{ from: 0, to: x(from) }] : []),
      ...(now - to > LATE_MS ? [{ from: x(to), to: x(now) }] : []),
    ],
    label: `The past 4 hours: agents were active in ${work.length} minutes, you spoke ${sumOf(words)} times.`,
  };
}

/** A read is at most a minute apart from the next one. */
const LATE_MS = 2 * MINUTE_MS;

/** Labels stand at the right of their pin, and at its left where the ribbon ends; none covers another. */
function pinsOf(
  launches: readonly Launch[],
  { from, to }: Stretch,
  now: number,
  width: number,
  tomorrow: RibbonShape['tomorrow'],
): Pin[] {
  const x = (ms: number) => ((ms - from) / (to - from)) * width;
  const groups: { x: number; launches: Launch[] }[] = [];
  const coming = launches
    .filter(({ at }) => at >= now - MINUTE_MS && at < to)
    .toSorted((a, b) => a.at - b.at);
  for (const launch of coming) {
    const at = Math.max(x(launch.at), x(now));
    const last = groups.at(-1);
    if (last !== undefined && at - last.x < PIN_PX) last.launches.push(launch);
    else groups.push({ x: at, launches: [launch] });
  }
  // The word beside the line of now reaches into both rows.
  const beside_now = { from: x(now) - GAP_PX, to: x(now) + NOW_PX };
  const taken = [[beside_now], [beside_now]];
  const day = tomorrow?.name?.x;
  if (day !== undefined) taken[1]?.push({ from: day - DAY_GAP_PX - GAP_PX, to: day + DAY_PX });
  return groups.map(({ x: at, launches: all }) => {
    const [first] = all;
    const label = `${first?.title ?? ''}${all.length > 1 ? ` +${all.length - 1}` : ''}`;
    const long = label.length * CHARACTER_PX;
    const toward = at + long > width - GAP_PX ? 'left' : 'right';
    const room =
      toward === 'right'
        ? { from: at - 3, to: at + long + GAP_PX }
        : { from: at - long - GAP_PX, to: at + 3 };
    const row = ([0, 1] as const).find((one) =>
      (taken[one] ?? []).every((other) => other.to <= room.from || other.from >= room.to),
    );
    if (row !== undefined) taken[row]?.push(room);
    return { x: at, launches: all, label, row: row ?? null, toward };
  });
}

/** What a pin says of its launches. */
export function pinWords(launches: readonly Launch[]): string {
  return launches.map(({ title, at }) => `${title} at ${timeOfDay(at)}`).join(', ');
}
