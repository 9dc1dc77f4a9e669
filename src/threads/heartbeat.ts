import type { Clock } from '../base/clock.ts';

export type Heartbeat = {
  /** A sign of life came. */
  heard(): void;
  stop(): void;
};

/**
 * Asks a thread for a sign of life every `interval_ms` and calls `silent` once, when as many questions in a
 * row as fit into `timeout_ms` went unanswered. It counts questions, not time: after a suspend of the
 * machine, or a stall of the asking thread, the other side is still given its chance to answer.
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
    // Timers that catch up after a stall would count several questions that had no time for an answer.
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
