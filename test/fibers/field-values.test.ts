import { describe, expect, it } from 'vitest';
import { requireDue, requireSchedule, requireZone } from '../../src/fibers/field-values.ts';

describe('the values of fields', () => {
  it.each([
    '',
    'often',
    '* * * *',
    '0 9 * * * *',
    '61 * * * *',
    '0 9 31 2 *',
    'H H * * *',
    '0 H(2-5) * * *',
    'H/15 * * * *',
  ])('refuses the schedule %j', (schedule) => {
    expect(() => requireSchedule(schedule)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it.each(['@daily', '*/5 * * * *', ' 0 9 * * mon-fri ', '0 9 * MAR THU'])(
    'accepts the schedule %j',
    (schedule) => {
      expect(requireSchedule(schedule)).toBe(schedule.trim());
    },
  );

  it('refuses an unknown time zone', () => {
    expect(() => requireZone('Europe/Atlantis')).toThrow('not a time zone');
  });

  it.each([
    '2026-08-31',
    '2024-02-29',
    '2026-08-31T09:00',
    '2026-08-31T09:00:00.000Z',
    '2026-08-31T09:00+02:00',
  ])('accept the day %j', (due) => expect(requireDue(due)).toBe(due));

  it.each(['', 'soon', '2026-13-01', '2026-02-30', '31.8.2026', '2026-08-31 bogus', '2026-08-31T25:00'])(
    'refuse the day %j',
    (due) => expect(() => requireDue(due)).toThrow('is not a day'),
  );
});
