import { describe, expect, it } from 'vitest';
import { startOf } from '../../../board/src/model/days.ts';
import { SAMPLE_MINUTES, weekDays, weekOf } from '../../../board/src/model/week.ts';

const TODAY = '2026-11-25';
const HOUR_MS = 3_600_000;

describe('a week', () => {
  it.each([
    ['2026-11-25', ['2026-11-23', '2026-11-24', '2026-11-25']],
    ['2026-11-23', ['2026-11-23', '2026-11-24', '2026-11-25']],
    [
      '2026-11-22',
      ['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20', '2026-11-21', '2026-11-22'],
    ],
  ])('goes from Monday to Sunday, and not beyond today: that of %s', (day, days) => {
    expect(weekOf(day, TODAY)).toEqual(days);
  });

  it('tells of each day what agents did, what a person said and what was closed, as far as it was read', () => {
    const monday = startOf('2026-11-23');
    const bucket = { s: 'one', cwd: null, n: 3 } as const;
    const read = new Map([
      [
        '2026-11-23',
        {
          from: monday,
          to: monday + 24 * HOUR_MS,
          buckets: [
            { ...bucket, m: monday + 9 * HOUR_MS, k: 'agent' as const },
            { ...bucket, m: monday + 9 * HOUR_MS + 60_000, k: 'agent' as const },
            { ...bucket, m: monday + 9 * HOUR_MS, k: 'agent' as const, s: 'another' },
            { ...bucket, m: monday + 9 * HOUR_MS, k: 'agent' as const, cwd: '/elsewhere' },
            { ...bucket, m: monday + 9 * HOUR_MS, k: 'attention' as const },
          ],
        },
      ],
    ]);
    const closed = (at: number) => ({ status: 'closed' as const, closed_at: new Date(at).toISOString() });
    const [first, second] = weekDays(weekOf(TODAY, TODAY), read, [
      closed(monday + HOUR_MS),
      closed(monday + 25 * HOUR_MS),
      closed(monday + 26 * HOUR_MS),
      { status: 'open' as const },
    ]);
    expect(first).toMatchObject({ day: '2026-11-23', active: 3, spoke: 3, closed: 1 });
    expect(first?.heights).toHaveLength((24 * 60) / SAMPLE_MINUTES);
    const busy = first?.heights.flatMap((height, nth) => (height !== null && height > 0 ? [nth] : []));
    expect(busy).toEqual([(9 * 60) / SAMPLE_MINUTES - 1, (9 * 60) / SAMPLE_MINUTES]);
    expect(second).toMatchObject({ day: '2026-11-24', active: null, spoke: 0, closed: 2 });
    expect(new Set(second?.heights)).toEqual(new Set([null]));
  });
});
