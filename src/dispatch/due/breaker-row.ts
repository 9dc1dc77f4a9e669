import type { Memory } from '../memory.ts';
import type { World } from '../world.ts';

/** Lists a fiber that the loop breaker pauses as blocked, with the last screen of its last worker (P26). */
export function blockWhenPaused(world: World, memory: Memory, key: string, fiber_id: string): void {
  const now = world.clock.now();
  const paused = memory.breaker.paused(key, now);
  if (paused === null) return;
  const screen = paused.launch_id === undefined ? null : world.launches.readScreen(paused.launch_id);
  memory.refusals.record(
    key,
    {
      reason: 'loop_breaker',
      message: `${paused.deaths} workers in a row died soon after their start; \`svc dispatch ${fiber_id} --force\` tries again at once`,
      ...(screen === null ? {} : { screen }),
    },
    now,
    paused.until,
  );
}
