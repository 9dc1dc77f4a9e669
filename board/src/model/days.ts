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

/** Days from one to another; negative if the second is earlier. */
export function daysBetween(from: Day, to: Day): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS);
}
