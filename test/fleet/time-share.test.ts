import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { TimeShare } from '../../src/fleet/time-share.ts';

let now: number;
let share: TimeShare;
beforeEach(() => {
  now = 1_000;
  share = new TimeShare(() => now);
});

const spend = (ms: number) =>
  share.spend(() => {
    now += ms;
    return ms;
  });

describe('the time that the answers of one host take', () => {
  it('is free up to a burst', () => {
    expect(spend(50)).toBe(50);
    expect(share.wait_ms).toBe(0);
  });

  it('delays what comes next by twenty times what is above the burst', () => {
    spend(150);
    expect(share.wait_ms).toBe(2_000);
    now += 1_500;
    expect(share.wait_ms).toBeCloseTo(500);
    now += 500;
    expect(share.wait_ms).toBeCloseTo(0);
  });

  it('is charged too where the work throws', () => {
    const work = () =>
      share.spend(() => {
        now += 60;
        throw new Error('unreadable');
      });
    expect(work).toThrow('unreadable');
    expect(share.wait_ms).toBeCloseTo(200);
  });

  it('is at most a burst, the last answer and a twentieth of the time, whatever a host sends', () => {
    const works = fc.array(fc.record({ ms: fc.integer({ min: 0, max: 400 }), pause: fc.nat(5_000) }));
    fc.assert(
      fc.property(works, (all) => {
        now = 0;
        share = new TimeShare(() => now);
        let spent = 0;
        for (const { ms, pause } of all) {
          now += pause;
          if (share.wait_ms > 0) continue;
          spent += spend(ms);
        }
        expect(spent).toBeLessThanOrEqual(50 + 400 + now / 20);
      }),
    );
  });
});
