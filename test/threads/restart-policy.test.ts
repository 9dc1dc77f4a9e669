import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideRestart, type RestartPolicy } from '../../src/threads/restart-policy.ts';

const policy: RestartPolicy = { intensity: 3, window_ms: 60_000, backoff: { first: 100, most: 350 } };

describe('the restart decision', () => {
  const now = 1_000_000;
  for (const [title, restarts, expected] of [
    ['first mishap', [], { action: 'restart', after_ms: 100, nth: 1 }],
    ['second in the window', [now - 10], { action: 'restart', after_ms: 200, nth: 2 }],
    ['the wait has a limit', [now - 20, now - 10], { action: 'restart', after_ms: 350, nth: 3 }],
    ['over the intensity', [now - 30, now - 20, now - 10], { action: 'give_up' }],
    [
      'an old mishap is forgiven',
      [now - 60_000, now - 20, now - 10],
      { action: 'restart', after_ms: 350, nth: 3 },
    ],
    ['a clock that was set back counts as now', [now + 9e9, now - 20, now - 10], { action: 'give_up' }],
  ] as const) {
    it(`${title}: ${JSON.stringify(expected)}`, () => {
      expect(decideRestart(policy, restarts, now)).toMatchObject(expected);
    });
  }

  it('never allows more restarts in a window than the intensity, and stores no more times than that', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 6 }),
        fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 60 }),
        (intensity, gaps) => {
          let at = 0;
          let restarts: number[] = [];
          const granted: number[] = [];
          for (const gap of gaps) {
            at += gap;
            const decision = decideRestart({ ...policy, intensity }, restarts, at);
            const recent = granted.filter((moment) => at - moment < policy.window_ms).length;
            expect(decision.action).toBe(recent >= intensity ? 'give_up' : 'restart');
            if (decision.action === 'give_up') continue;
            restarts = decision.restarts;
            granted.push(at);
            expect(restarts.length).toBeLessThanOrEqual(intensity);
            expect(decision.after_ms).toBeLessThanOrEqual(policy.backoff.most);
          }
        },
      ),
    );
  });
});
