import type { World } from '../world/world.ts';
import type { Memory } from './memory.ts';

/** Lists a fiber that the loop breaker pauses as blocked, with the last screen of its last worker (P26). */
export function blockWhenPaused(world: World, memory: Memory, key: string, fiber_id: string): void {
  const now = world.clock.now();
  const paused = memory.breaker.paused(key, now);
  if (paused === null) return;
  const screen = paused.launch_id === undefined ? null : world.runDirectories.readScreen(paused.launch_id);
  memory.refusals.record(
    key,
    {
      reason: 'loop_breaker',
      message: `${sentenceOf(paused)}; \`svc dispatch ${fiber_id} --force\` tries again at once`,
      ...(screen === null ? {} : { screen }),
    },
    now,
    paused.until,
  );
}

function sentenceOf({ deaths, quick_ends }: { deaths: number; quick_ends: number }): string {
  return quick_ends > deaths
    ? `${quick_ends} workers in a row handed off or died soon after their start`
    : `${deaths} workers in a row died soon after their start`;
}
