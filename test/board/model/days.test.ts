import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dayAfter, dayOf, hoursIn, startOf } from '../../../board/src/model/days.ts';

const HOUR_MS = 3_600_000;
const before = process.env.TZ;

afterEach(() => {
  if (before === undefined) delete process.env.TZ;
  else process.env.TZ = before;
});

describe.each([
  ['UTC', '2026-03-29', 24, '2026-03-29T00:00:00.000Z'],
  ['Europe/Berlin', '2026-03-29', 23, '2026-03-28T23:00:00.000Z'],
  ['Europe/Berlin', '2026-10-25', 25, '2026-10-24T22:00:00.000Z'],
  ['America/New_York', '2026-11-01', 25, '2026-11-01T04:00:00.000Z'],
  ['Asia/Kathmandu', '2026-11-01', 24, '2026-10-31T18:15:00.000Z'],
  ['Australia/Lord_Howe', '2026-04-05', 24.5, '2026-04-04T13:00:00.000Z'],
  // The clock goes from 00:00 to 01:00 there.
  ['America/Santiago', '2026-09-06', 23, '2026-09-06T04:00:00.000Z'],
])('a civil day in %s: %s', (zone, day, hours, begins) => {
  beforeEach(() => {
    process.env.TZ = zone;
  });

  it(`begins at ${begins} and lasts ${hours} hours`, () => {
    expect(new Date(startOf(day)).toISOString()).toBe(begins);
    expect(startOf(dayAfter(day, 1)) - startOf(day)).toBe(hours * HOUR_MS);
    expect(dayOf(startOf(day))).toBe(day);
    expect(dayOf(startOf(day) - 1)).toBe(dayAfter(day, -1));
  });

  it('has the hours that its clock shows', () => {
    const found = hoursIn({ from: startOf(day), to: startOf(dayAfter(day, 1)) }, 1);
    expect(found.length).toBe(Math.floor(hours));
    for (const { at, hour } of found) {
      expect(new Date(at).getHours()).toBe(hour);
      expect(new Date(at).getMinutes()).toBe(0);
    }
  });

  it('holds every moment from its beginning to that of the next one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 * 24 * 400 }), (minutes) => {
        const at = startOf(day) + minutes * 60_000;
        expect(startOf(dayOf(at))).toBeLessThanOrEqual(at);
        expect(startOf(dayAfter(dayOf(at), 1))).toBeGreaterThan(at);
      }),
      { numRuns: 50 },
    );
  });
});

describe('the hours of a stretch of time', () => {
  it('are those of which the hour of the day is a multiple', () => {
    const from = startOf('2026-11-23') + 2.5 * HOUR_MS;
    expect(hoursIn({ from, to: from + 12 * HOUR_MS }, 3).map(({ hour }) => hour)).toEqual([3, 6, 9, 12]);
  });
});
