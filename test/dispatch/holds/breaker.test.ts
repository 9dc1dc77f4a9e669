import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterRun,
  type BreakerEntry,
  pausedUntil,
  type RunEnd,
} from '../../../src/dispatch/holds/breaker.ts';

const policy = { deaths: 5, quick_ends: 10, quick_ms: 90_000, pause_ms: 600_000 };
const quick: RunEnd = { kind: 'died', lived_ms: 89_999 };
const handoff: RunEnd = { kind: 'handed_off', lived_ms: 2_000 };

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
  ])('starts counting anew after %s', (_, healthy) => {
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

  it('opens again when the pause has run its course, and then counts from one', () => {
    const paused = feed([quick, quick, quick, quick, quick]);
    expect(pausedUntil(paused, 600_004)).toBeNull();
    expect(afterRun(paused, quick, 600_005, policy)?.deaths).toBe(1);
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
