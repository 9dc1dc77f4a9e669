import { describe, expect, it } from 'vitest';
import { type Clock, everySteady, FakeClock, within } from '../../src/base/clock.ts';

describe('a wait within a time', () => {
  it.each([
    ['succeeds', () => Promise.resolve()],
    ['fails', () => Promise.reject(new Error('refused'))],
  ])('answers that the work settled where it %s, and leaves no timer', async (_how, work) => {
    let timers = 0;
    const clock: Clock = {
      ...{ now: () => 0, monotonic: () => 0, every: () => () => {} },
      after() {
        timers += 1;
        return () => {
          timers -= 1;
        };
      },
    };
    await expect(within(clock, 1_000, work())).resolves.toBe(true);
    expect(timers).toBe(0);
  });

  it('answers that the work did not settle once the time is over', async () => {
    const clock = new FakeClock();
    const late = within(clock, 1_000, new Promise(() => {}));
    clock.advance(1_000);
    await expect(late).resolves.toBe(false);
  });
});

describe('work by a clock that may be wrong', () => {
  const MINUTE = 60_000;
  const YEARS = 70 * 365 * 24 * 60 * MINUTE;
  const START = Date.UTC(2026, 0, 5);
  /** In which minutes it runs; `set` says by how much the clock is set, and in which minute. */
  function runsIn(minutes: number, set: Readonly<Record<number, number>>): number[] {
    const clock = new FakeClock(START);
    const ran: number[] = [];
    const end = everySteady(clock, 10 * MINUTE, () => ran.push(clock.monotonic() / MINUTE));
    for (let minute = 0; minute < minutes; minute += 1) {
      clock.jumpTo(clock.now() + (set[minute] ?? 0));
      clock.advance(MINUTE);
    }
    end();
    return ran;
  }

  it.each([
    ['begins after an hour', {}, [60, 70, 80, 90, 100, 110, 120]],
    ['waits an hour after a wrong clock was set right', { 35: -YEARS }, [100, 110, 120]],
    ['waits an hour after the clock was set forward', { 65: YEARS }, [60]],
    ['waits on where it was set back in that hour', { 15: YEARS, 45: -YEARS }, [110, 120]],
    [
      'goes on where a clock is moved by seconds',
      { 15: 30_000, 25: -30_000 },
      [60, 70, 80, 90, 100, 110, 120],
    ],
  ])('%s', (_what, set, expected) => {
    expect(runsIn(120, set)).toEqual(expected);
  });
});
