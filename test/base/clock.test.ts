import { describe, expect, it } from 'vitest';
import { type Clock, FakeClock, within } from '../../src/base/clock.ts';

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
