import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { startHeartbeat } from '../../src/threads/heartbeat.ts';

/** What the thread did since the last look, in milliseconds: `asleep` and `runs` are time that it had. */
type Spell = 'asleep' | 'runs' | 'starved';

function start(answers: () => boolean, { timeout_ms = 5_000, spell = (): Spell => 'asleep' } = {}) {
  const clock = new FakeClock();
  const seen = { asked: 0, silent: 0 };
  const work = { ran_ms: 0, waited_ms: 0, is_ready: false };
  let looked = clock.monotonic();
  const heartbeat = startHeartbeat({
    clock,
    interval_ms: 1_000,
    timeout_ms,
    ask() {
      seen.asked += 1;
      if (answers()) heartbeat.heard();
    },
    work() {
      const passed = clock.monotonic() - looked;
      looked = clock.monotonic();
      work.is_ready = spell() !== 'asleep';
      if (spell() === 'runs') work.ran_ms += passed;
      if (spell() === 'starved') work.waited_ms += passed;
      return { ...work };
    },
    silent: () => {
      seen.silent += 1;
    },
  });
  return { clock, seen, heartbeat };
}

describe('the heartbeat', () => {
  it('is sent at every interval and satisfied by answers', () => {
    const { clock, seen } = start(() => true);
    clock.advance(60_000);
    expect(seen).toEqual({ asked: 60, silent: 0 });
  });

  it.each(['asleep', 'runs'] as const)('reports silence once, of a thread that had its time: %s', (spell) => {
    const { clock, seen } = start(() => false, { spell: () => spell });
    clock.advance(5_000);
    expect(seen).toEqual({ asked: 1, silent: 0 });
    clock.advance(1_000);
    expect(seen).toEqual({ asked: 1, silent: 1 });
    clock.advance(60_000);
    expect(seen).toEqual({ asked: 1, silent: 1 });
  });

  it('reports no silence of a thread that has no time to answer, however long', () => {
    let spell: Spell = 'starved';
    const { clock, seen } = start(() => false, { spell: () => spell });
    clock.advance(3_600_000);
    expect(seen.silent).toBe(0);
    spell = 'asleep';
    clock.advance(6_000);
    expect(seen.silent).toBe(1);
  });

  it('accepts silence that ends in time', () => {
    const { clock, seen, heartbeat } = start(() => false);
    for (let round = 0; round < 40; round += 1) {
      clock.advance(4_000);
      heartbeat.heard();
    }
    expect(seen.silent).toBe(0);
  });

  it('does not mistake a suspend of the machine for silence', () => {
    const { clock, seen, heartbeat } = start(() => false);
    clock.advance(2_000);
    clock.jumpTo(clock.now() + 8 * 3_600_000);
    clock.advance(1_000);
    expect(seen).toEqual({ asked: 1, silent: 0 });
    heartbeat.heard();
    clock.advance(1_000);
    expect(seen.silent).toBe(0);
  });

  it('still finds a silent thread after the clock was set back', () => {
    const { clock, seen } = start(() => false);
    clock.advance(2_000);
    const wall = clock.now();
    clock.advance(1_000);
    clock.jumpTo(wall - 3_600_000);
    clock.advance(10_000);
    expect(seen.silent).toBe(1);
  });

  it('is sent at least once when the timeout is shorter than the interval, and never after it was stopped', () => {
    const { clock, seen, heartbeat } = start(() => false, { timeout_ms: 10 });
    clock.advance(1_000);
    expect(seen).toEqual({ asked: 1, silent: 0 });
    heartbeat.stop();
    clock.advance(60_000);
    expect(seen).toEqual({ asked: 1, silent: 0 });
  });
});
