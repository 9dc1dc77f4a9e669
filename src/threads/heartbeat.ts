import type { Clock } from '../base/clock.ts';
import type { ThreadWork } from './thread-work.ts';
import { TimeHad } from './time-had.ts';

export type Heartbeat = {
  /** Records a heartbeat answer. */
  heard(): void;
  stop(): void;
};

/**
 * Sends a thread a heartbeat every `interval_ms`, the next one once the last was answered. Calls `silent` once when the
 * thread has had `timeout_ms` of time (`time-had.ts`) since one that it did not answer.
 */
export function startHeartbeat(options: {
  clock: Clock;
  interval_ms: number;
  timeout_ms: number;
  ask(): void;
  work(): ThreadWork | null;
  silent(): void;
}): Heartbeat {
  const { clock, interval_ms, timeout_ms } = options;
  const time_had = new TimeHad(interval_ms);
  let is_answered = true;
  const cancel = clock.every(interval_ms, () => {
    if (is_answered) {
      is_answered = false;
      time_had.reset();
      time_had.look(clock.monotonic(), options.work());
      options.ask();
    } else if (time_had.look(clock.monotonic(), options.work()) >= timeout_ms) {
      cancel();
      options.silent();
    }
  });
  return {
    heard: () => {
      is_answered = true;
    },
    stop: cancel,
  };
}
