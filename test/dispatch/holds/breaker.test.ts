import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterRun,
  type BreakerEntry,
  pausedUntil as pausedUntilBy,
  type RunEnd,
} from '../../../src/dispatch/holds/breaker.ts';

const policy = { deaths: 5, quick_ends: 10, quick_ms: 90_000, pauses_ms: [600_000, 3_600_000] };
const quick: RunEnd = { kind: 'died', lived_ms: 89_999 };
const handoff: RunEnd = { kind: 'handed_off', lived_ms: 2_000 };

const pausedUntil = (entry: BreakerEntry | undefined, now: number) => pausedUntilBy(entry, now, policy);

function feed(ends: RunEnd[], start = 0): BreakerEntry | undefined {
  return ends.reduce<BreakerEntry | undefined>(
    (entry, end, index) => afterRun(entry, end, start + index, policy),
    undefined,
  );
}

describe('loop breaker', () => {
  it('pauses a fiber for ten minutes after five quick deaths in a row', () => {
    expect(pausedUntil(feed([quick, quick, quick, quick]), 10)).toBeNull();
    expect(pausedUntil(feed([quick, quick, quick, quick, quick]), 10)).toBe(600_004);
  });

  it.each([
    ['a run that lived its 90 s', { kind: 'died', lived_ms: 90_000 } as const],
    ['a handoff', handoff],
    ['a role that did its work', { kind: 'concluded' } as const],
  ])('starts counting again after %s', (_, healthy) => {
    expect(feed([quick, quick, quick, quick, healthy, quick])?.deaths).toBe(1);
  });

  it('pauses a oneshot whose workers do nothing but hand off to each other', () => {
    const nine = Array.from({ length: 9 }, () => handoff);
    expect(pausedUntil(feed(nine), 10)).toBeNull();
    expect(pausedUntil(feed([...nine, handoff]), 10)).toBe(600_009);
    expect(pausedUntil(feed([...nine, { kind: 'handed_off', lived_ms: 90_000 }, handoff]), 10)).toBeNull();
    expect(pausedUntil(feed([quick, quick, ...nine.slice(2), quick]), 10)).toBe(600_009);
  });

  it('does not count a stop by a person, nor forgive for it', () => {
    expect(feed([quick, quick, { kind: 'stopped' }, quick])?.deaths).toBe(3);
  });

  it.each([
    ['deaths', quick, 5],
    ['handoffs', handoff, 10],
  ] as const)(
    'after %s pauses for 10 min, then for 1 h, then holds for a person, and counts all',
    (_, end, most) => {
      const first = feed(Array.from({ length: most }, () => end));
      expect(pausedUntil(first, 600_000)).toBe(600_000 + most - 1);
      expect(pausedUntil(first, 600_000 + most)).toBeNull();
      const second = afterRun(first, end, 1_000_000, policy);
      expect(pausedUntil(second, 1_000_001)).toBe(4_600_000);
      const third = afterRun(second, end, 5_000_000, policy);
      expect(third).toMatchObject({ held: true, paused_until: null, quick_ends: most + 2 });
      expect(third).toMatchObject({ first_at: 0, last_at: 5_000_000 });
      expect(afterRun(third, { kind: 'stopped' }, 5_000_001, policy)).toEqual(third);
      expect(afterRun(third, { kind: 'handed_off', lived_ms: 90_000 }, 6_000_000, policy)).toBeUndefined();
    },
  );

  it('never pauses for longer than its longest pause, however far the clock is turned back', () => {
    const paused = feed([quick, quick, quick, quick, quick], 1e12);
    expect(pausedUntil(paused, 1e12 - 60_000)).toBe(1e12 + 600_004);
    expect(pausedUntil(paused, 1e12 - 86_400_000)).toBeNull();
  });

  it('backs off longer each time for as long as no run is healthy, whatever the order of the ends', () => {
    const end = fc.oneof(fc.constant(quick), fc.constant(handoff), fc.constant({ kind: 'stopped' } as const));
    fc.assert(
      fc.property(fc.array(end, { maxLength: 60 }), (ends) => {
        let entry: BreakerEntry | undefined;
        let now = 0;
        const pauses: number[] = [];
        let count = 0;
        for (const one of ends) {
          if (entry?.held === true) break;
          now = pausedUntil(entry, now) ?? now + 1;
          const before = entry?.pauses ?? 0;
          entry = afterRun(entry, one, now, policy);
          if (one.kind !== 'stopped') count += 1;
          if ((entry?.pauses ?? 0) > before) pauses.push((pausedUntil(entry, now) ?? Infinity) - now);
          expect(entry?.quick_ends ?? 0).toBe(count);
        }
        expect([600_000, 3_600_000, Infinity].slice(0, pauses.length)).toEqual(pauses);
      }),
    );
  });

  it('never pauses with fewer quick ends in a row than the policy names', () => {
    const end = fc.oneof(
      fc.record({ kind: fc.constant('died' as const), lived_ms: fc.integer({ min: 0, max: 200_000 }) }),
      fc.record({ kind: fc.constant('handed_off' as const), lived_ms: fc.integer({ min: 0, max: 200_000 }) }),
      fc.constant({ kind: 'concluded' as const }),
      fc.constant({ kind: 'stopped' as const }),
    );
    fc.assert(
      fc.property(fc.array(end, { maxLength: 40 }), (ends) => {
        const quick_ends = ends.filter((one) => 'lived_ms' in one && one.lived_ms < policy.quick_ms);
        const deaths = quick_ends.filter(({ kind }) => kind === 'died').length;
        if (deaths < policy.deaths && quick_ends.length < policy.quick_ends)
          expect(pausedUntil(feed(ends), 0)).toBeNull();
      }),
    );
  });
});
