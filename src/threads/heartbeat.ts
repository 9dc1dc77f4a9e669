import type { Clock } from '../base/clock.ts';

export type Heartbeat = {
  /** Records a heartbeat answer. */
  heard(): void;
  stop(): void;
};

/**
 * Sends a thread a heartbeat every `interval_ms`. Calls `silent` once when as many in a row as fit into `timeout_ms`
 * were not answered. It counts heartbeats, not time, so that after a suspend of the machine or a stall of this thread
 * the other side can still answer.
 */
export function startHeartbeat(options: {
  clock: Clock;
  interval_ms: number;
  timeout_ms: number;
  ask(): void;
  silent(): void;
}): Heartbeat {
  const limit = Math.max(1, Math.ceil(options.timeout_ms / options.interval_ms));
  let unanswered = 0;
  let askedAt = Number.NEGATIVE_INFINITY;
  const cancel = options.clock.every(options.interval_ms, () => {
    // After a stall, timers fire in a burst; heartbeats of that burst had no time to be answered and do not count.
    const sinceAsked = options.clock.now() - askedAt;
    if (sinceAsked >= 0 && sinceAsked < options.interval_ms / 2) return;
    if (unanswered >= limit) {
      cancel();
      options.silent();
      return;
    }
    unanswered += 1;
    askedAt = options.clock.now();
    options.ask();
  });
  return {
    heard: () => {
      unanswered = 0;
    },
    stop: cancel,
  };
}
