import type { RunView } from '../../contract/fiber.ts';
import type { Places } from '../../contract/http/state.ts';

/** True if the poller may start one more. */
export function hasPlace({ count, resting, most }: Places): boolean {
  return most === null || count - resting < most;
}

/**
 * When a worker no longer counts: once it has waited for a person, for its usage limit or for the next word for so many
 * milliseconds. Infinite for one that works, starts, or of which nothing is known.
 */
export function givesPlaceUpAt(
  { phase, phase_since }: Pick<RunView, 'phase' | 'phase_since'>,
  kept_ms: number,
): number {
  const rests = phase === 'waiting' || phase === 'attention' || phase === 'idle';
  return rests && phase_since !== null ? phase_since + kept_ms : Number.POSITIVE_INFINITY;
}
