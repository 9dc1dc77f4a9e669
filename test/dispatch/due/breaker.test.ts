import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterRun, type BreakerEntry, pausedUntil, type RunEnd } from '../../../src/dispatch/due/breaker.ts';

const policy = { deaths: 5, quick_ms: 90_000, pause_ms: 600_000 };
const quick: RunEnd = { kind: 'died', lived_ms: 89_999 };

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
    ['a handoff', { kind: 'handed_off' } as const],
  ])('starts counting anew after %s', (_, healthy) => {
    expect(feed([quick, quick, quick, quick, healthy, quick])?.deaths).toBe(1);
  });

  it('does not count a stop by a person, nor forgive for it', () => {
    expect(feed([quick, quick, { kind: 'stopped' }, quick])?.deaths).toBe(3);
  });

  it('opens again when the pause has run its course, and then counts from one', () => {
    const paused = feed([quick, quick, quick, quick, quick]);
    expect(pausedUntil(paused, 600_004)).toBeNull();
    expect(afterRun(paused, quick, 600_005, policy)?.deaths).toBe(1);
  });

  it('never pauses with fewer quick deaths in a row than the policy names', () => {
    const end = fc.oneof(
      fc.record({ kind: fc.constant('died' as const), lived_ms: fc.integer({ min: 0, max: 200_000 }) }),
      fc.constant({ kind: 'handed_off' as const }),
      fc.constant({ kind: 'stopped' as const }),
    );
    fc.assert(
      fc.property(fc.array(end, { maxLength: 40 }), (ends) => {
        const deaths = ends.filter((one) => one.kind === 'died' && one.lived_ms < policy.quick_ms).length;
        if (deaths < policy.deaths) expect(pausedUntil(feed(ends), 0)).toBeNull();
      }),
    );
  });
});
