import { type BackoffPolicy, backoffDelay } from '../base/backoff.ts';

/** How often a component may end in a row: `intensity` times, with these delays; not in a row after `window_ms` of running. */
export type RestartPolicy = { intensity: number; window_ms: number; backoff: BackoffPolicy };

export type RestartDecision =
  | {
      action: 'restart';
      after_ms: number;
      /** Restarts in a row, including this one: `before` of the next decision. */
      nth: number;
    }
  | { action: 'give_up' };

/**
 * What to do about a component that ended: after `before` restarts in a row, and having run for `ran_ms`. Only running
 * counts, so that starts which take long are counted like others.
 */
export function decideRestart(
  { intensity, window_ms, backoff }: RestartPolicy,
  { before, ran_ms }: { before: number; ran_ms: number },
): RestartDecision {
  const nth = ran_ms >= window_ms ? 1 : before + 1;
  if (nth > intensity) return { action: 'give_up' };
  return { action: 'restart', after_ms: backoffDelay(backoff, nth), nth };
}
