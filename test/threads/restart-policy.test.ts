import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideRestart, type RestartPolicy } from '../../src/threads/restart-policy.ts';

const policy: RestartPolicy = { intensity: 3, window_ms: 60_000, backoff: { first: 100, most: 350 } };

describe('the restart decision', () => {
  for (const [title, past, expected] of [
    ['first mishap', { before: 0, ran_ms: 0 }, { action: 'restart', after_ms: 100, nth: 1 }],
    ['second in a row', { before: 1, ran_ms: 10 }, { action: 'restart', after_ms: 200, nth: 2 }],
    ['the wait has a limit', { before: 2, ran_ms: 59_999 }, { action: 'restart', after_ms: 350, nth: 3 }],
    ['over the intensity', { before: 3, ran_ms: 0 }, { action: 'give_up' }],
    [
      'an old mishap is forgiven',
      { before: 3, ran_ms: 60_000 },
      { action: 'restart', after_ms: 100, nth: 1 },
    ],
  ] as const) {
    it(`${title}: ${JSON.stringify(expected)}`, () => {
      expect(decideRestart(policy, past)).toEqual(expected);
    });
  }

  it('gives up a component that never runs for long, however long its starts take', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9 }), fc.nat(59_999), (intensity, ran_ms) => {
        let before = 0;
        for (let death = 1; death <= intensity; death += 1) {
          const decision = decideRestart({ ...policy, intensity }, { before, ran_ms });
          expect(decision).toMatchObject({ action: 'restart', nth: death });
          before = death;
        }
        expect(decideRestart({ ...policy, intensity }, { before, ran_ms })).toEqual({ action: 'give_up' });
      }),
    );
  });
});
