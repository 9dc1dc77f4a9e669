import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultOfRead, nearestCopy, questionOf } from '../../src/fleet/remote-question.ts';

const HOUR = 3_600_000;

describe('the question to a remote', () => {
  it.each([
    [{ feed: 'commits' }, '/commits'],
    [{ feed: 'sent-files' }, '/sent-files/all'],
    [{ feed: 'sessions' }, '/sessions'],
    [{ feed: 'sessions', uid: 'a b&origin=x\ud800' }, '/sessions?uid=a%20b%26origin%3Dx%EF%BF%BD'],
    [{ feed: 'activity', from_ms: 1, to_ms: HOUR }, `/activity?from_ms=0&to_ms=${HOUR}`],
    [
      { feed: 'activity', from_ms: HOUR, to_ms: 999_999_999_999_999 },
      `/activity?from_ms=${HOUR}&to_ms=999999999999999`,
    ],
  ] as const)('[TMP-6] is the single-host endpoint with the same parameters: %j', (asked, path) => {
    expect(questionOf(asked).path).toBe(path);
  });

  it('[TMP-8] has a window that holds the one asked for and is the same for all moments of an hour', () => {
    const moment = fc.integer({ min: 0, max: 4_000_000_000_000 });
    fc.assert(
      fc.property(moment, fc.nat(40 * 24 * HOUR), (from_ms, length) => {
        const asked = { feed: 'activity', from_ms, to_ms: from_ms + length } as const;
        const { window } = questionOf(asked);
        expect(window!.from_ms).toBeLessThanOrEqual(from_ms);
        expect(window!.to_ms).toBeGreaterThanOrEqual(asked.to_ms);
        expect(window!.to_ms - window!.from_ms).toBeLessThan(length + 2 * HOUR);
        expect(questionOf({ feed: 'activity', ...window! })).toEqual(questionOf(asked));
      }),
    );
  });
});

describe('the copy that answers where there is none of the question itself', () => {
  const copy = (from: number, to: number, last_ok_at: number) => ({
    window: { from_ms: from * HOUR, to_ms: to * HOUR },
    last_ok_at,
  });
  const window = { from_ms: 0, to_ms: 24 * HOUR };

  it('[TMP-8] tells of most of the window, and is the newest of those that tell of as much', () => {
    const copies = [copy(-9, 5, 9), copy(-1, 23, 1), copy(1, 24, 3), copy(24, 48, 9)];
    expect(nearestCopy({ window }, copies)).toBe(copies[2]);
    expect(nearestCopy({ window }, [copy(24, 48, 9)])).toBeNull();
    expect(nearestCopy({ window: null }, copies)).toBeNull();
    expect(nearestCopy({ window }, [{ window: null, last_ok_at: 1 }])).toBeNull();
  });
});

describe('what another host answers', () => {
  const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  const COMMITS = { host: 'host-b', commits: [] };

  it('[TMP-8] is taken where it is the read of that host, with fields that are not known here', async () => {
    expect(await faultOfRead('commits', 'host-b', bytes({ ...COMMITS, newer: true }))).toBeNull();
    expect(await faultOfRead('sessions', 'host-b', bytes({ host: 'host-b', sessions: [] }))).toBeNull();
    expect(await faultOfRead('sent-files', 'host-b', bytes({ host: 'host-b', sent_files: [] }))).toBeNull();
    const window = { from_ms: 0, to_ms: 60_000 };
    expect(
      await faultOfRead('activity', 'host-b', bytes({ host: 'host-b', ...window, buckets: [] })),
    ).toBeNull();
  });

  it('[TMP-8] names the other host that answered', async () => {
    expect(await faultOfRead('commits', 'host-c', bytes(COMMITS))).toEqual({ host: 'host-b' });
  });

  it.each([
    ['no JSON', '{"host":"host-b","commits":[]'],
    ['two values', '{"host":"host-b","commits":[]}{}'],
    ['nothing', ''],
    ['another feed', { host: 'host-b', sessions: [] }],
    ['no host', { commits: [] }],
    ['a host that is no name', { host: 7, commits: [] }],
    ['rows of another shape', { host: 'host-b', commits: ['x'] }],
    ['a mark of the byte order', '\ufeff{"host":"host-b","commits":[]}'],
    ['lists in lists', `${'['.repeat(5_000_000)}`],
    ['empty maps without end', `{"host":"host-b","commits":[],"more":[${'{},'.repeat(2_000_000)}{}]}`],
  ])('[TMP-8] is not taken where it has %s', async (_, value) => {
    expect(await faultOfRead('commits', 'host-b', bytes(value))).toBe('shape');
  });

  it('[TMP-8] is refused if it is not UTF-8', async () => {
    const text = Buffer.from('{"host":"host-b","commits":[],"x":"\xff"}', 'latin1');
    expect(await faultOfRead('commits', 'host-b', text)).toBe('shape');
    const cut = Buffer.from('{"host":"host-b","commits":[],"x":"[[\\"{{"}');
    expect(await faultOfRead('commits', 'host-b', cut)).toBeNull();
  });
});
