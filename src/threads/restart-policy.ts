import { type BackoffPolicy, backoffDelay } from '../base/backoff.ts';

/** How often a component may be restarted: `intensity` times within `window_ms`, with these delays. */
export type RestartPolicy = { intensity: number; window_ms: number; backoff: BackoffPolicy };

export type RestartDecision =
  | {
      action: 'restart';
      after_ms: number;
      /** Restarts within the window, including this one. */
      nth: number;
      /** Input of the next decision. */
      restarts: number[];
    }
  | { action: 'give_up' };

/**
 * What to do about a component that ended at `now`, given the times (in milliseconds) of its earlier restarts. Times
 * after `now` come from a clock that was set back; they count as now.
 */
export function decideRestart(
  policy: RestartPolicy,
  restarts: readonly number[],
  now: number,
): RestartDecision {
  const recent = restarts.map((at) => Math.min(at, now)).filter((at) => now - at < policy.window_ms);
  if (recent.length >= policy.intensity) return { action: 'give_up' };
  const nth = recent.length + 1;
  return {
    action: 'restart',
    after_ms: backoffDelay(policy.backoff, nth),
    nth,
    restarts: [...recent, now],
  };
}
