import { describe, expect, it } from 'vitest';
import { waitedFor } from '../../src/messages/delivery-plan.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const YEARS = 70 * 365 * 24 * HOUR;

describe('how long a message has waited', () => {
  it.each([
    ['by the clock', { age_ms: 2 * HOUR, uptime_ms: 3 * HOUR, is_of_earlier: false }, 2 * HOUR],
    [
      'with the time before this daemon',
      { age_ms: 5 * HOUR, uptime_ms: HOUR, is_of_earlier: true },
      5 * HOUR,
    ],
    ['where the clock was set forward', { age_ms: YEARS, uptime_ms: HOUR, is_of_earlier: false }, HOUR],
    [
      'an hour less than it may, as a daemon starts',
      { age_ms: YEARS, uptime_ms: 0, is_of_earlier: true },
      23 * HOUR,
    ],
    ['all that it may, an hour later', { age_ms: YEARS, uptime_ms: HOUR, is_of_earlier: true }, 24 * HOUR],
  ])('%s', (_how, facts, expected) => {
    expect(waitedFor({ ...facts, most_ms: 24 * HOUR })).toBe(expected);
  });

  it('counts from the start of the daemon where it may wait for less than an hour', () => {
    expect(waitedFor({ age_ms: YEARS, uptime_ms: MINUTE, is_of_earlier: true, most_ms: 2 * MINUTE })).toBe(
      MINUTE,
    );
  });
});
