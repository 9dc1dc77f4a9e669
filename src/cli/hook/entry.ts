import process from 'node:process';
import { systemClock } from '../../base/clock.ts';
import { runHook } from './run.ts';

/** `svc hook …` as the launcher runs it: an agent waits, so nothing but this is loaded. Always ends with 0. */
export async function hookMain(argv: readonly string[]): Promise<void> {
  // The timers of `base/clock.ts` do not keep a process alive, and a hook may wait on nothing else.
  const alive = setInterval(() => {}, 2 ** 30);
  await runHook(argv, { env: process.env, cwd: process.cwd(), clock: systemClock, stdin: process.stdin });
  clearInterval(alive);
  process.exit(0);
}
