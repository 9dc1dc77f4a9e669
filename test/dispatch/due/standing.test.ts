import { CronExpressionParser } from 'cron-parser';
import fc from 'fast-check';
import { ulid } from 'ulid';
import { describe, expect, it } from 'vitest';
import type { FiberDocument, SvcBlock } from '../../../src/contract/fiber.ts';
import { nextOccurrences, occurrenceAfter, standingDue } from '../../../src/dispatch/due/standing.ts';

function role(svc: Partial<SvcBlock>, created_at = '2026-01-05T00:00:00Z'): FiberDocument {
  return {
    id: 'roles/digest',
    uid: '01K00000000000000000000000',
    leaf: 'digest',
    store: '/s',
    path: '/s/.fibers/roles/digest/digest.md',
    name: 'Digest',
    status: 'active',
    tags: [],
    digest: 'd',
    created_at,
    svc: { kind: 'standing', host: 'host-a', ...svc },
  };
}
const at = (text: string) => Date.parse(text);

describe('standing roles', () => {
  it('[STD-1] [FIB-7] is due once an occurrence has passed since its creation', () => {
    const digest = role({ schedule: '0 9 * * *', tz: 'UTC' });
    expect(standingDue(digest, at('2026-01-05T08:59:59Z'), 'UTC')).toEqual({
      kind: 'later',
      next: at('2026-01-05T09:00:00Z'),
    });
    expect(standingDue(digest, at('2026-01-05T09:00:00Z'), 'UTC')).toEqual({
      kind: 'due',
      occurrence: at('2026-01-05T09:00:00Z'),
    });
  });

  it('tells the next occurrences of its schedule, whatever it was served, and none of one that cannot be read', () => {
    const now = at('2026-01-05T09:00:00Z');
    const next = ['2026-01-06T09:00:00Z', '2026-01-07T09:00:00Z', '2026-01-08T09:00:00Z'].map(at);
    expect(nextOccurrences(role({ schedule: '0 9 * * *', tz: 'UTC' }), now, 'Europe/Paris')).toEqual(next);
    expect(nextOccurrences(role({ schedule: '0 10 * * *' }), now, 'Europe/Paris')).toEqual(next);
    expect(nextOccurrences(role({ schedule: 'at times' }), now, 'UTC')).toBeNull();
    expect(nextOccurrences(role({}), now, 'UTC')).toBeNull();
  });

  it.each(['dispatched_at', 'handed_off_at'] as const)(
    '[STD-1] [FIB-9] [FIB-10] counts from %s when that is the later moment',
    (marker) => {
      const digest = role({
        schedule: '0 9 * * *',
        tz: 'UTC',
        runtime: { [marker]: '2026-01-05T09:00:01Z' },
      });
      expect(standingDue(digest, at('2026-01-05T23:00:00Z'), 'UTC')).toEqual({
        kind: 'later',
        next: at('2026-01-06T09:00:00Z'),
      });
    },
  );

  it('[STD-1] makes one run of any number of missed occurrences', () => {
    const digest = role({ schedule: '*/5 * * * *', tz: 'UTC' });
    const due = standingDue(digest, at('2026-01-09T12:00:00Z'), 'UTC');
    expect(due.kind).toBe('due');
    const served = role({
      schedule: '*/5 * * * *',
      tz: 'UTC',
      runtime: { dispatched_at: '2026-01-09T12:00:00Z' },
    });
    expect(standingDue(served, at('2026-01-09T12:00:01Z'), 'UTC').kind).toBe('later');
  });

  it('[STD-1] reads the schedule in the role’s own zone', () => {
    const digest = role({ schedule: '0 9 * * *', tz: 'America/New_York' });
    expect(standingDue(digest, at('2026-01-05T09:30:00Z'), 'UTC')).toEqual({
      kind: 'later',
      next: at('2026-01-05T14:00:00Z'),
    });
  });

  it.each([
    ['@hourly', '2026-01-05T10:00:00Z'],
    ['@daily', '2026-01-06T00:00:00Z'],
    ['@midnight', '2026-01-06T00:00:00Z'],
    ['@weekdays', '2026-01-06T00:00:00Z'],
    ['@weekends', '2026-01-10T00:00:00Z'],
    ['@weekly', '2026-01-11T00:00:00Z'],
    ['@monthly', '2026-02-01T00:00:00Z'],
    ['@yearly', '2027-01-01T00:00:00Z'],
    ['@annually', '2027-01-01T00:00:00Z'],
    ['0 0 29 2 *', '2028-02-29T00:00:00Z'],
    ['0 0 31 * *', '2026-01-31T00:00:00Z'],
    ['0 0 13 * 5', '2026-01-09T00:00:00Z'],
  ])('[STD-1] [FIB-7] a role of %s is due at %s next', (schedule, next) => {
    expect(
      standingDue(role({ schedule }, '2026-01-05T09:30:00Z'), at('2026-01-05T09:30:00Z'), 'UTC'),
    ).toEqual({
      kind: 'later',
      next: at(next),
    });
  });

  it.each([
    ['schedule', {}],
    ...['often', '', '0 9 * *', '5', '0 0 9 * * *', 'H H * * *', '@secondly', '@reboot', '@toString'].map(
      (schedule) => ['schedule', { schedule }] as const,
    ),
    ['tz', { schedule: '0 9 * * *', tz: 'Mars/Base' }],
    ['tz', { schedule: '0 9 * * *', tz: '' }],
  ] as const)('[STD-1] names the %s of a role with %j, which never runs', (of, svc) => {
    const due = standingDue(role(svc), at('2026-01-05T09:30:00Z'), 'UTC');
    expect(due).toEqual({ kind: 'never', of, error: expect.stringContaining(`svc.${of}`) });
    expect(nextOccurrences(role(svc), at('2026-01-05T09:30:00Z'), 'UTC')).toBeNull();
  });
});

describe('the clocks', () => {
  const noon = at('2026-06-01T12:00:00Z');
  const daily = { schedule: '0 9 * * *', tz: 'UTC' };

  it('[STD-1] a role without created-at counts from its ULID, not from 1970', () => {
    const uid = ulid(noon);
    const digest = { ...role(daily), created_at: undefined, uid } as unknown as FiberDocument;
    expect(standingDue(digest, noon + 60_000, 'UTC')).toEqual({
      kind: 'later',
      next: at('2026-06-02T09:00:00Z'),
    });
    expect(standingDue(digest, at('2026-06-02T09:00:00Z'), 'UTC').kind).toBe('due');
  });

  it('[STD-1] a role of which no moment is known waits for its next occurrence, whenever it is asked', () => {
    const digest = { ...role(daily), created_at: undefined, uid: null } as unknown as FiberDocument;
    for (const day of ['01', '02', '03'])
      expect(standingDue(digest, at(`2026-06-${day}T12:00:00Z`), 'UTC').kind).toBe('later');
  });

  it.each([
    [
      '30 2 * * *',
      'America/New_York',
      '2026-03-07T12:00:00Z',
      '2026-03-08T07:30:00Z',
      'a skipped local time',
    ],
    [
      '30 2 * * *',
      'America/New_York',
      '2026-03-08T07:05:00Z',
      '2026-03-08T07:30:00Z',
      'one asked for in the skipped hour',
    ],
    [
      '30 1 * * *',
      'America/New_York',
      '2026-10-31T12:00:00Z',
      '2026-11-01T05:30:00Z',
      'a repeated local time, its first turn',
    ],
    [
      '30 1 * * *',
      'America/New_York',
      '2026-11-01T06:10:00Z',
      '2026-11-02T06:30:00Z',
      'a repeated local time that had its turn',
    ],
    [
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2026-10-03T10:00:00Z',
      '2026-10-03T15:45:00Z',
      'a half hour that is skipped',
    ],
    [
      '*/30 * * * *',
      'America/New_York',
      '2026-11-01T05:30:00Z',
      '2026-11-01T06:00:00Z',
      'every half hour, through the repeated one',
    ],
    [
      '0 */6 * * *',
      'Australia/Lord_Howe',
      '2026-04-04T14:00:00Z',
      '2026-04-04T19:30:00Z',
      'a repeated half hour',
    ],
  ])('[P30] %s in %s after %s comes at %s: %s', (schedule, zone, after, expected) => {
    expect(new Date(occurrenceAfter(schedule, zone, at(after)))).toEqual(new Date(expected));
  });

  const zones = [
    'UTC',
    'America/New_York',
    'Europe/Paris',
    'Australia/Lord_Howe',
    'Asia/Beirut',
    'America/St_Johns',
  ];
  const changes = [
    '2026-03-08',
    '2026-11-01',
    '2026-03-29',
    '2026-10-25',
    '2026-04-05',
    '2026-10-04',
    '2026-06-15',
  ];
  const schedules = [
    '30 2 * * *',
    '30 1 * * *',
    '0 0 * * *',
    '15 1,2 * * *',
    '0 */6 * * *',
    '45 1 * * 0',
    '*/20 1-3 * * *',
  ];

  it('[P30] are those of the parser’s own iteration from far before, wherever one asks', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...schedules),
        // The parser loses its way where the clocks move by half an hour.
        fc.constantFrom(...zones.filter((zone) => zone !== 'Australia/Lord_Howe')),
        fc.constantFrom(...changes),
        fc.integer({ min: -36 * 60, max: 36 * 60 }),
        (schedule, tz, day, minutes) => {
          const start = at(`${day}T00:00:00Z`);
          const after = start + minutes * 60_000;
          const whole = CronExpressionParser.parse(schedule, {
            currentDate: new Date(start - 10 * 86_400_000),
            tz,
          });
          let expected = whole.next().getTime();
          while (expected <= after) expected = whole.next().getTime();
          expect(new Date(occurrenceAfter(schedule, tz, after))).toEqual(new Date(expected));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('[P30] [STD-1] never fire an occurrence twice, however late the role is looked at and served', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...schedules),
        fc.constantFrom(...zones),
        fc.constantFrom(...changes),
        fc.array(fc.integer({ min: 1, max: 14 * 60 }), { minLength: 1, maxLength: 12 }),
        (schedule, tz, day, waits) => {
          let now = at(`${day}T00:00:00Z`) - 86_400_000;
          let served = now;
          const fired: number[] = [];
          for (const wait of waits) {
            now += wait * 60_000;
            const runtime = { dispatched_at: new Date(served).toISOString() };
            const due = standingDue(role({ schedule, tz, runtime }, '2026-01-01T00:00:00Z'), now, 'UTC');
            if (due.kind !== 'due') continue;
            expect(due.occurrence).toBeLessThanOrEqual(now);
            fired.push(due.occurrence);
            served = now;
          }
          expect(new Set(fired).size).toBe(fired.length);
          const local = fired.map((one) => new Date(one).toLocaleString('en', { timeZone: tz }));
          expect(new Set(local).size).toBe(local.length);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('[P30] a clock that was ahead and went back does not fire again what has fired', () => {
    const ahead = { ...daily, runtime: { dispatched_at: '2026-06-03T09:00:01Z' } };
    for (const now of ['2026-06-02T08:00:00Z', '2026-06-02T10:00:00Z', '2026-06-03T09:00:00Z'])
      expect(standingDue(role(ahead), at(now), 'UTC')).toEqual({
        kind: 'later',
        next: at('2026-06-04T09:00:00Z'),
      });
  });
});
