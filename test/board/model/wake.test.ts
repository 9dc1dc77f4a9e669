import { describe, expect, it } from 'vitest';
import { MINUTE_MS, NO_TRACE, type Trace } from '../../../board/src/model/activity.ts';
import { cardOf } from '../../../board/src/model/card.ts';
import { WAKE_MS, type Wake, wakeShape } from '../../../board/src/model/wake.ts';
import { live, row } from './rows.ts';

const NOW = 1_000 * MINUTE_MS;
const ago = (minutes: number) => NOW - minutes * MINUTE_MS;
const counts = (...minutes: number[]) => minutes.map((minute) => ({ m: ago(minute), n: 4 }));
const known = { from: ago(240), to: NOW, buckets: [] };
const wake: Wake = { session: 'one', since: ago(45), waits_since: null };
const trace: Trace = { work: counts(40, 39, 20, 1), words: counts(41) };

const shape = (of: Partial<Wake> = {}, read = known, at: Trace = trace) => {
  const found = wakeShape({ ...wake, ...of }, at, read, NOW);
  if (found === null) throw new Error('no wake');
  return found;
};

describe('the wake of a worker', () => {
  it('begins with the worker and ends now', () => {
    const { curve, ticks, waits, unknown, label } = shape();
    expect(curve[0]).toEqual({ x: 0.5, height: 0 });
    expect(curve.at(-1)?.x).toBe(1);
    expect(curve.at(-1)?.height).toBeGreaterThan(0);
    expect(ticks).toEqual([(90 - 41 + 0.5) / 90]);
    expect({ waits, unknown }).toEqual({ waits: null, unknown: [] });
    expect(label).toBe('active in 4 of the last 90 minutes, you spoke 4 times');
  });

  it('goes from left to right', () => {
    const across = shape().curve.map(({ x }) => x);
    expect(across).toEqual(across.toSorted((a, b) => a - b));
  });

  it('begins where it can be seen if the worker is older', () => {
    expect(shape({ since: ago(600) }).curve[0]?.x).toBe(0);
  });

  it('stops where the worker began to wait, and counts what that costs', () => {
    const { curve, waits, label } = shape({ waits_since: ago(9) });
    expect(waits).toBeCloseTo(0.9);
    expect(curve.at(-1)).toEqual({ x: waits, height: 0 });
    expect(label).toMatch(/, waiting for 9 min$/);
  });

  it('says what was not read', () => {
    const read = { ...known, from: ago(30), to: ago(18) };
    const { unknown, curve } = shape({}, read);
    expect(unknown).toEqual([
      { from: 0, to: (90 - 30) / 90 },
      { from: (90 - 18) / 90, to: 1 },
    ]);
    expect(curve.at(-1)?.x).toBeCloseTo((90 - 18) / 90);
  });

  it('is none where nothing is recorded, or nothing of late', () => {
    expect(wakeShape(wake, NO_TRACE, known, NOW)).toBeNull();
    expect(wakeShape(wake, { work: counts(WAKE_MS / MINUTE_MS + 5), words: [] }, known, NOW)).toBeNull();
  });

  it.each([
    [
      'a worker at work',
      { runtime: live({ session_uuid: 's' }) },
      { session: 's', since: 1, waits_since: null },
    ],
    [
      'one that waits',
      { runtime: live({ session_uuid: 's', phase: 'waiting' }) },
      { session: 's', since: 1, waits_since: 1 },
    ],
    [
      'one of an app, by its transcript',
      { runtime: live({ session_uuid: 's', transcript_session_uuid: 't' }) },
      { session: 't', since: 1, waits_since: null },
    ],
    ['one whose turn is over', { runtime: live({ session_uuid: 's', phase: 'idle' }) }, null],
    ['a draft', {}, null],
  ] as const)('is on the card of %s', (_, of, expected) => {
    expect(cardOf(row(of), '2026-11-23').wake).toEqual(expected);
  });
});
