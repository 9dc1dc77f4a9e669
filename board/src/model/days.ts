/** A civil day as `2026-11-23`; days compare as texts. */
export type Day = string;

const DAY_MS = 86_400_000;
const DAY = /^\d{4}-\d{2}-\d{2}(?![\d-])/;

/** The day that a frontmatter value begins with, in the calendar; null if it names none. */
export function dayIn(value: string | undefined): Day | null {
  const day = value === undefined ? undefined : DAY.exec(value.trim())?.[0];
  if (day === undefined) return null;
  const at = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== day ? null : day;
}

/** The day of a moment where the viewer is. */
export function dayOf(ms: number): Day {
  const at = new Date(ms);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** When a day begins where the viewer is: its first moment, which is not midnight where the clock skips that. */
export function startOf(day: Day): number {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const at = new Date(2000, month - 1, date);
  at.setFullYear(year, month - 1, date);
  return at.getTime();
}

/** A day where the viewer is: of 23 hours, or of 25, where the clock changes. */
export function stretchOf(day: Day): { from: number; to: number } {
  return { from: startOf(day), to: startOf(dayAfter(day, 1)) };
}

/** The hours of the viewer's clock that begin within a stretch of time, each `every` one of a day. */
export function hoursIn(
  { from, to }: { from: number; to: number },
  every: number,
): { at: number; hour: number }[] {
  const hours: { at: number; hour: number }[] = [];
  for (let at = Math.ceil(from / QUARTER_MS) * QUARTER_MS; at < to; at += QUARTER_MS) {
    const then = new Date(at);
    if (then.getMinutes() === 0 && then.getHours() % every === 0) hours.push({ at, hour: then.getHours() });
  }
  return hours;
}

/** Every clock is a multiple of this away from UTC. */
const QUARTER_MS = 15 * 60_000;

/** Days from one to another; negative if the second is earlier. */
export function daysBetween(from: Day, to: Day): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS);
}

export function dayAfter(day: Day, days: number): Day {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** The first Monday after a day. */
export function mondayAfter(day: Day): Day {
  const weekday = new Date(`${day}T00:00:00Z`).getUTCDay();
  return dayAfter(day, ((8 - weekday) % 7) + (weekday === 1 ? 7 : 0));
}

/** The first day of the month after a day. */
export function monthAfter(day: Day): Day {
  const at = new Date(`${day}T00:00:00Z`);
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1)).toISOString().slice(0, 10);
}
