import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterFailure,
  afterReset,
  isDoubtful,
  type Recovery,
  WELL,
  waitAfterFailure,
} from '../../src/fleet/remote-recovery.ts';

const failing = (failures: number): Recovery => ({ phase: 'failing', failures });
const RECONNECT: Recovery = { phase: 'cascade', step: 'reconnect' };
const RESTART: Recovery = { phase: 'cascade', step: 'restart_tunnel' };
const LOOK_UP: Recovery = { phase: 'cascade', step: 'look_up' };
const TRIPPED: Recovery = { phase: 'tripped' };
const ALL = [WELL, failing(1), failing(2), RECONNECT, RESTART, LOOK_UP, TRIPPED];

describe('the recovery of a remote', () => {
  it.each([
    // state, after a failure, after a reset, doubtful, wait in the middle of its range
    [WELL, failing(1), null, false, 0],
    [failing(1), failing(2), null, false, 500],
    [failing(2), RECONNECT, null, true, 1_000],
    [RECONNECT, RESTART, null, true, 250],
    [RESTART, LOOK_UP, null, true, 250],
    [LOOK_UP, TRIPPED, null, true, 250],
    [TRIPPED, TRIPPED, RECONNECT, true, 8_000],
  ])('[BRK-1] %j', (state, failed, reset, doubtful, wait) => {
    expect(afterFailure(state)).toEqual(failed);
    expect(afterReset(state)).toEqual(reset);
    expect(isDoubtful(state)).toBe(doubtful);
    expect(waitAfterFailure(state, 0.5)).toBe(wait);
  });

  it('[BRK-1] trips after any failures only by way of one whole cascade, and a reset begins exactly one', () => {
    const event = fc.constantFrom('fails', 'answers', 'reset');
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        let state: Recovery = WELL;
        let steps: string[] = [];
        for (const one of events) {
          const before: Recovery = state;
          if (one === 'answers') state = WELL;
          else if (one === 'fails') state = afterFailure(state);
          else state = afterReset(state) ?? state;
          if (state.phase === 'cascade' && state !== before) steps.push(state.step);
          if (state.phase === 'tripped' && before.phase !== 'tripped')
            expect(steps).toEqual(['reconnect', 'restart_tunnel', 'look_up']);
          if (state.phase !== 'cascade') steps = [];
        }
      }),
    );
  });

  it('spreads the next questions of remotes that failed together, and never waits for long', () => {
    for (const state of ALL)
      fc.assert(
        fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (random) => {
          const wait = waitAfterFailure(state, random);
          const middle = waitAfterFailure(state, 0.5);
          expect(wait).toBeGreaterThanOrEqual(Math.floor(middle * 0.75));
          expect(wait).toBeLessThanOrEqual(10_000);
        }),
      );
  });
});
