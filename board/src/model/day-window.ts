import { HOUR_MS, MINUTE_MS, type Stretch } from './activity.ts';
import type { Lane } from './day-lanes.ts';

/** The shortest stretch that is drawn. */
const CLOSEST_MS = 30 * MINUTE_MS;
/** The shortest one that is drawn unasked. */
const FITTED_MS = HOUR_MS;
const QUARTER_MS = 15 * MINUTE_MS;
/** Between two labels of the axis. */
const LABEL_PX = 58;
const STEPS_MIN = [5, 10, 15, 30, 60, 120, 180, 240, 360, 720];

/** The part of a day that is drawn at first: the time in which something happened or may have, up to now. */
export function fittedTo(
  lanes: readonly Pick<Lane, 'seen' | 'unknown'>[],
  day: Stretch,
  now: number,
): Stretch {
  const until = Math.min(day.to, Math.max(day.from, now));
  const is_over = now >= day.to;
  if (lanes.length === 0)
    return { from: day.from, to: is_over ? day.to : Math.max(until, day.from + FITTED_MS) };
  const first = Math.min(...lanes.map(({ seen }) => seen.from));
  const last = Math.max(...lanes.flatMap(({ seen, unknown }) => [seen.to, ...unknown.map(({ to }) => to)]));
  const from = Math.max(day.from, quarterAt(first));
  const to = is_over ? Math.min(day.to, quarterAt(last - 1) + QUARTER_MS) : until;
  return within({ from: Math.min(from, to - FITTED_MS), to }, day);
}

/** When the quarter of an hour of the viewer's clock began. */
function quarterAt(ms: number): number {
  const at = new Date(ms);
  return ms - (((at.getMinutes() % 15) * 60 + at.getSeconds()) * 1_000 + at.getMilliseconds());
}

/** Half or twice as much of the day, with one moment staying where it is drawn. */
export function zoomed(window: Stretch, day: Stretch, at: number, towards: 'in' | 'out'): Stretch {
  const long = window.to - window.from;
  const whole = day.to - day.from;
  const next = Math.min(whole, Math.max(CLOSEST_MS, towards === 'in' ? long / 2 : long * 2));
  const part = Math.min(1, Math.max(0, (at - window.from) / long));
  return within({ from: at - part * next, to: at - part * next + next }, day);
}

/** The same length of time, moved until it holds a moment. */
export function showing(window: Stretch, day: Stretch, at: number): Stretch {
  if (at >= window.from && at <= window.to) return window;
  const by = at < window.from ? at - window.from : at - window.to;
  return within({ from: window.from + by, to: window.to + by }, day);
}

/** A stretch of the same length inside a day, as close to where it was as it can be. */
function within({ from, to }: Stretch, day: Stretch): Stretch {
  const long = Math.min(day.to - day.from, to - from);
  const begin = Math.max(day.from, Math.min(from, day.to - long));
  return { from: begin, to: begin + long };
}

/** How far one step of the cursor goes: less where less is shown. */
export function stepOf(window: Stretch): number {
  return window.to - window.from <= 2 * HOUR_MS ? MINUTE_MS : 5 * MINUTE_MS;
}

/** A place of the cursor: the beginning of a minute of the day that is not to come. */
export function cursorAt(ms: number, day: Stretch, now: number): number {
  const last = Math.max(day.from, Math.min(day.to - MINUTE_MS, now));
  const at = Math.min(last, Math.max(day.from, ms));
  return day.from + Math.floor((at - day.from) / MINUTE_MS) * MINUTE_MS;
}

/** The places of the axis that have a label, on so many pixels. */
export function ticksOf(window: Stretch, width: number): { at: number; text: string }[] {
  const most = Math.max(1, Math.floor(width / LABEL_PX));
  const minutes = (window.to - window.from) / MINUTE_MS;
  const step = STEPS_MIN.find((one) => minutes / one <= most) ?? 720;
  const ticks: { at: number; text: string }[] = [];
  const five = 5 * MINUTE_MS;
  for (let at = Math.ceil(window.from / five) * five; at <= window.to; at += five) {
    const then = new Date(at);
    if ((then.getHours() * 60 + then.getMinutes()) % step !== 0) continue;
    const hour = String(then.getHours()).padStart(2, '0');
    ticks.push({ at, text: step < 60 ? `${hour}:${String(then.getMinutes()).padStart(2, '0')}` : hour });
  }
  return ticks;
}
