import { getPriority, setPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';

/** Others wait for what these threads do as well: on a busy machine more steps would stop them. */
const STEPS_BACK = 1;
const LAST = 19;

/**
 * Lowers the priority of this thread, so that the threads that answer requests get the processor first. Linux only,
 * where each thread has its own nice value.
 */
export function stepBack(): void {
  if (isMainThread || process.platform !== 'linux') return;
  setPriority(0, Math.min(LAST, getPriority(0) + STEPS_BACK));
}
