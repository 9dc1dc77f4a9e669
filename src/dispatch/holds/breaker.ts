import { z } from 'zod';

/** Quick ends of one fiber's workers, as kept across restarts of the daemon. Times are milliseconds. */
export const breakerEntrySchema = z.object({
  /** Quick deaths in a row. */
  deaths: z.number().int(),
  /** Quick ends in a row, handoffs among them. */
  quick_ends: z.number().int().default(0),
  /** How often it was paused for this row. */
  pauses: z.number().int().default(0),
  paused_until: z.number().nullable(),
  /** No pause has helped: it waits for a person. */
  held: z.boolean().default(false),
  /** When the first and the last of them ended; absent in what an earlier version wrote. */
  first_at: z.number().optional(),
  last_at: z.number().optional(),
  /** The start that ended last: its run directory may have kept its last screen. */
  launch_id: z.string().optional(),
});
export type BreakerEntry = z.infer<typeof breakerEntrySchema>;

/** `pauses_ms`: the pauses in order, each longer; after the last one the fiber is held. */
export type BreakerPolicy = {
  deaths: number;
  quick_ends: number;
  quick_ms: number;
  pauses_ms: readonly number[];
};

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
 * The entry after one more run ended (design section 8): quick deaths in a row are counted and the policy's number of
 * them pauses the fiber. A healthy run clears the count, a stop by a person leaves it. A handoff ends the row of deaths,
 * but workers that hand off to each other as soon as they start go on as endlessly as those that die: quick ends of both
 * kinds have a number of their own. The first quick end after a pause is one more of the same row, so it begins the next
 * pause, which is longer; after the last one the fiber is held.
 */
export function afterRun(
  entry: BreakerEntry | undefined,
  end: RunEnd,
  now: number,
  policy: BreakerPolicy,
): BreakerEntry | undefined {
  if (end.kind === 'stopped') return entry;
  if (end.kind === 'concluded' || end.lived_ms >= policy.quick_ms) return undefined;
  const deaths = end.kind === 'died' ? (entry?.deaths ?? 0) + 1 : 0;
  const quick_ends = (entry?.quick_ends ?? 0) + 1;
  const paused = entry?.pauses ?? 0;
  const is_loop = paused > 0 || deaths >= policy.deaths || quick_ends >= policy.quick_ends;
  const pause_ms = is_loop ? policy.pauses_ms[paused] : undefined;
  return {
    deaths,
    quick_ends,
    pauses: is_loop ? paused + 1 : paused,
    paused_until: pause_ms === undefined ? null : now + pause_ms,
    held: is_loop && pause_ms === undefined,
    first_at: entry?.first_at ?? now,
    last_at: now,
  };
}

/**
 * Until when the fiber is paused; null when the breaker is closed or holds the fiber for good. A time that no pause
 * can explain was written before the clock was set back.
 */
export function pausedUntil(
  entry: BreakerEntry | undefined,
  now: number,
  { pauses_ms }: Pick<BreakerPolicy, 'pauses_ms'>,
): number | null {
  if (entry?.paused_until == null || entry.paused_until <= now) return null;
  return entry.paused_until > now + 2 * Math.max(...pauses_ms) ? null : entry.paused_until;
}
