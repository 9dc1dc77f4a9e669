import { describe, expect, it } from 'vitest';
import { judgeMeeting, type SeenMeeting, STOP_LATE_MS } from '../../src/meetings/meeting-state.ts';

const NOW = 1_000_000;
const file = (phase: NonNullable<SeenMeeting['file']>['phase'], error: string | null = null) => ({
  phase,
  error,
});

describe('the state of a meeting', () => {
  it.each<[string, Partial<SeenMeeting>, number | null, string | null]>([
    ['starting while no file is there [MTS-3]', { file: null }, null, 'starting'],
    ['starting while nobody can tell', { file: null, life: 'unknown' }, null, 'starting'],
    ['loading', { file: file('loading') }, null, 'loading'],
    ['live', { file: file('live') }, null, 'live'],
    ['live while the process cannot be asked', { file: file('live'), life: 'unknown' }, null, 'live'],
    ['stopping once it was told to, whatever the file says [MTS-5]', { file: file('live') }, NOW, 'stopping'],
    ['stopping by itself', { file: file('stopping') }, null, 'stopping'],
    ['over when it has ended', { file: file('ended'), life: 'alive' }, null, null],
    ['over when it has ended and is gone', { file: file('ended'), life: 'gone' }, NOW, null],
    ['failed when it says so [MTS-4]', { file: file('failed', 'no model') }, null, 'failed'],
    ['failed when it is gone without a word', { file: null, life: 'gone' }, null, 'failed'],
    ['live while its file cannot be read any more', { file: file('live'), unreadable: 'EIO' }, null, 'live'],
    ['loading while its file never could be read', { file: null, unreadable: 'EIO' }, null, 'loading'],
    [
      'failed when it is gone and its file cannot be read',
      { unreadable: 'EIO', life: 'gone' },
      NOW,
      'failed',
    ],
    ['failed when it is gone while live', { file: file('live'), life: 'gone' }, null, 'failed'],
    ['failed when it died while it stopped', { file: file('stopping'), life: 'gone' }, NOW, 'failed'],
    ['over when it was stopped before it recorded', { file: file('loading'), life: 'gone' }, NOW, null],
    ['over when it was stopped before it wrote', { file: null, life: 'gone' }, NOW, null],
  ])('is %s [MTS-1]', (_, seen, stop_asked_at, state) => {
    const judged = judgeMeeting(
      { stop_asked_at, process: null },
      { file: null, unreadable: null, full: null, life: 'alive', log: null, now: NOW, ...seen },
    );
    expect(judged?.state ?? null).toBe(state);
  });

  it('says why it failed: by its file, else by the last line of its standard error', () => {
    const seen = { unreadable: null, full: null, life: 'gone', log: 'no such model', now: NOW } as const;
    const running = { stop_asked_at: null, process: null };
    expect(judgeMeeting(running, { ...seen, file: file('failed', 'fix it') })?.error).toBe('fix it');
    expect(judgeMeeting(running, { ...seen, file: file('failed') })?.error).toBe('no such model');
    expect(judgeMeeting(running, { ...seen, file: null })?.error).toContain('before it recorded anything');
    expect(judgeMeeting(running, { ...seen, file: file('live') })?.error).toContain('in the transcript');
    expect(judgeMeeting(running, { ...seen, log: null, file: null })?.error).not.toContain('It said');
  });

  it('says what is wrong although the recording goes on', () => {
    const seen = { file: { phase: 'live', error: null, fault: 'the disk is full' }, life: 'alive' } as const;
    const judge = (unreadable: string | null) =>
      judgeMeeting(
        { stop_asked_at: null, process: null },
        { ...seen, unreadable, full: null, log: null, now: NOW },
      );
    expect(judge(null)).toEqual({ state: 'live', error: 'the disk is full' });
    expect(judge('too long')).toEqual({ state: 'live', error: expect.stringContaining('(too long)') });
  });

  it('says when a stop takes long, and the command that ends the recorder', () => {
    const seen = { file: file('live'), unreadable: null, full: null, life: 'alive', log: null } as const;
    const stopped = (ms: number) =>
      judgeMeeting(
        { stop_asked_at: NOW, process: { pid: 4_242, start_time: '77' } },
        { ...seen, now: NOW + ms },
      );
    expect(stopped(STOP_LATE_MS)).toEqual({ state: 'stopping', error: null });
    expect(stopped(STOP_LATE_MS + 5_000)?.error).toMatch(/ 35 s .* End it with: kill -9 4242$/);
  });

  it.each([
    ['live', null],
    ['stopping', NOW],
  ] as const)(
    'says while it is %s that its disk is full, beside what the recorder says',
    (state, stop_asked_at) => {
      const seen = { unreadable: null, full: '/data/meetings', life: 'alive', log: null, now: NOW } as const;
      const judge = (fault: string | null) =>
        judgeMeeting(
          { stop_asked_at, process: null },
          { ...seen, file: { phase: 'live', error: null, fault } },
        );
      const error = 'The disk of /data/meetings is full; free space there.';
      expect(judge(null)).toEqual({ state, error });
      expect(judge('no more audio is kept')).toEqual({ state, error: `no more audio is kept. ${error}` });
    },
  );
});
