import { getPriority, setPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';

const STEPS_BACK = 5;
const LAST = 19;

/**
 * Lets the other threads of the process go first where there are fewer processors than work: what answers requests
 * waits for this thread no longer than it must. On Linux alone, where a thread has a nice value of its own.
 */
export function stepBack(): void {
  if (isMainThread || process.platform !== 'linux') return;
  setPriority(0, Math.min(LAST, getPriority(0) + STEPS_BACK));
}
