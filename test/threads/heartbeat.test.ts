import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { startHeartbeat } from '../../src/threads/heartbeat.ts';

function start(answers: () => boolean, timeout_ms = 5_000) {
  const clock = new FakeClock();
  const seen = { asked: 0, silent: 0 };
  const heartbeat = startHeartbeat({
    clock,
    interval_ms: 1_000,
    timeout_ms,
    ask() {
      seen.asked += 1;
      if (answers()) heartbeat.heard();
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

  it('reports silence once, after as many unanswered heartbeats as fit into the timeout', () => {
    const { clock, seen } = start(() => false);
    clock.advance(5_000);
    expect(seen).toEqual({ asked: 5, silent: 0 });
    clock.advance(1_000);
    expect(seen).toEqual({ asked: 5, silent: 1 });
    clock.advance(60_000);
    expect(seen).toEqual({ asked: 5, silent: 1 });
  });

  it('accepts silence that ends in time', () => {
    let asked = 0;
    const { clock, seen } = start(() => ++asked % 4 === 0);
    clock.advance(120_000);
    expect(seen.silent).toBe(0);
  });

  it('does not mistake a suspend of the machine for silence', () => {
    const { clock, seen, heartbeat } = start(() => false);
    clock.advance(2_000);
    clock.jumpTo(clock.now() + 8 * 3_600_000);
    clock.advance(1_000);
    expect(seen).toEqual({ asked: 3, silent: 0 });
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
    clock.advance(3_600_000 + 10_000);
    expect(seen.silent).toBe(1);
  });

  it('is sent at least once when the timeout is shorter than the interval, and never after it was stopped', () => {
    const { clock, seen, heartbeat } = start(() => false, 10);
    clock.advance(1_000);
    expect(seen).toEqual({ asked: 1, silent: 0 });
    heartbeat.stop();
    clock.advance(60_000);
    expect(seen).toEqual({ asked: 1, silent: 0 });
  });
});
