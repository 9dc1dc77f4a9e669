import { type Clock, sleep } from '../base/clock.ts';

/** How often a condition of another process is looked at. */
const STEP_MS = 50;

/** Asks until there is an answer; undefined when `within_ms` have passed without one. */
export async function waitFor<T>(
  clock: Clock,
  within_ms: number,
  ask: () => T | undefined | Promise<T | undefined>,
): Promise<T | undefined> {
  const end = clock.now() + within_ms;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined || clock.now() >= end) return answer;
    await sleep(clock, STEP_MS);
  }
}
