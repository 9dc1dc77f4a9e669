import { z } from 'zod';

/** Deaths of one fiber's workers, as kept across restarts of the daemon. Times are milliseconds. */
export const breakerEntrySchema = z.object({
  /** Quick deaths in a row. */
  deaths: z.number().int(),
  paused_until: z.number().nullable(),
  last_death_at: z.number(),
  /** The launch that died last: its run directory may have kept its last screen. */
  launch_id: z.string().optional(),
});
export type BreakerEntry = z.infer<typeof breakerEntrySchema>;

export type BreakerPolicy = { deaths: number; quick_ms: number; pause_ms: number };

/** How a run ended, as far as the breaker cares. */
export type RunEnd = { kind: 'died'; lived_ms: number } | { kind: 'handed_off' } | { kind: 'stopped' };

/**
 * The entry after one more run ended (design section 8): quick deaths in a row are counted and the policy's
 * number of them pauses the fiber; a healthy run or a handoff clears the count; a stop by a person leaves it.
 */
export function afterRun(
  entry: BreakerEntry | undefined,
  end: RunEnd,
  now: number,
  policy: BreakerPolicy,
): BreakerEntry | undefined {
  if (end.kind === 'stopped') return entry;
  if (end.kind === 'handed_off' || end.lived_ms >= policy.quick_ms) return undefined;
  const deaths = (isSpent(entry, now) ? 0 : (entry?.deaths ?? 0)) + 1;
  const paused_until = deaths >= policy.deaths ? now + policy.pause_ms : null;
  return { deaths, paused_until, last_death_at: now };
}

/** Until when the fiber is paused, or null when the breaker is closed. */
export function pausedUntil(entry: BreakerEntry | undefined, now: number): number | null {
  return entry?.paused_until != null && entry.paused_until > now ? entry.paused_until : null;
}

/** A pause that has run its course: the next death is the first of a new row. */
function isSpent(entry: BreakerEntry | undefined, now: number): boolean {
  return entry?.paused_until != null && entry.paused_until <= now;
}
