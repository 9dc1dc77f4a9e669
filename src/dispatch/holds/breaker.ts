import { z } from 'zod';

/** Quick ends of one fiber's workers, as kept across restarts of the daemon. Times are milliseconds. */
export const breakerEntrySchema = z.object({
  /** Quick deaths in a row. */
  deaths: z.number().int(),
  /** Quick ends in a row, handoffs among them. */
  quick_ends: z.number().int().default(0),
  paused_until: z.number().nullable(),
  /** The start that ended last: its run directory may have kept its last screen. */
  launch_id: z.string().optional(),
});
export type BreakerEntry = z.infer<typeof breakerEntrySchema>;

export type BreakerPolicy = { deaths: number; quick_ends: number; quick_ms: number; pause_ms: number };

/**
 * How a run ended, as far as the breaker cares. `concluded`: a role did what it was started for. After a handoff the
 * next worker starts at once.
 */
export type RunEnd =
  | { kind: 'died'; lived_ms: number }
  | { kind: 'handed_off'; lived_ms: number }
  | { kind: 'concluded' }
  | { kind: 'stopped' };

/**
 * The entry after one more run ended (design section 8): quick deaths in a row are counted and the policy's
 * number of them pauses the fiber. A healthy run clears the count, a stop by a person leaves it. A handoff ends the
 * row of deaths, but workers that hand off to each other as soon as they start go on as endlessly as those that die:
 * quick ends of both kinds have a number of their own.
 */
export function afterRun(
  entry: BreakerEntry | undefined,
  end: RunEnd,
  now: number,
  policy: BreakerPolicy,
): BreakerEntry | undefined {
  if (end.kind === 'stopped') return entry;
  if (end.kind === 'concluded' || end.lived_ms >= policy.quick_ms) return undefined;
  const row = isSpent(entry, now) ? undefined : entry;
  const deaths = end.kind === 'died' ? (row?.deaths ?? 0) + 1 : 0;
  const quick_ends = (row?.quick_ends ?? 0) + 1;
  const is_loop = deaths >= policy.deaths || quick_ends >= policy.quick_ends;
  return { deaths, quick_ends, paused_until: is_loop ? now + policy.pause_ms : null };
}

/** Until when the fiber is paused, or null when the breaker is closed. */
export function pausedUntil(entry: BreakerEntry | undefined, now: number): number | null {
  return entry?.paused_until != null && entry.paused_until > now ? entry.paused_until : null;
}

/** A pause that has run its course: the next quick end is the first of a new row. */
function isSpent(entry: BreakerEntry | undefined, now: number): boolean {
  return entry?.paused_until != null && entry.paused_until <= now;
}
