import { describe, expect, it } from 'vitest';
import { isLast, placeOfNew, placeOfOpen } from '../../src/meetings/audio-socket.ts';
import type { RelayedMeeting } from '../../src/meetings/meeting-service.ts';

const live: RelayedMeeting = {
  launch: 'a',
  mode: 'phone',
  state: 'live',
  error: null,
  socket: '/run/a.sock',
};

describe('the place of a phone', () => {
  it.each<[string, string | null, RelayedMeeting | null, string]>([
    ['no meeting [AUD-6]', null, null, 'refused'],
    ['another meeting [AUD-6]', 'b', live, 'refused'],
    ['a meeting of this machine’s microphone [AUD-6]', 'a', { ...live, mode: 'room' }, 'refused'],
    ['a meeting that starts [AUD-4]', 'a', { ...live, state: 'starting', socket: null }, 'waiting'],
    ['a recorder that loads [AUD-4]', 'a', { ...live, state: 'loading', socket: null }, 'waiting'],
    ['a recorder without a socket [AUD-4]', 'a', { ...live, socket: null }, 'waiting'],
    ['a meeting that stops [AUD-7]', 'a', { ...live, state: 'stopping' }, 'ended'],
    ['a meeting that failed [AUD-7]', 'a', { ...live, state: 'failed', error: 'no disk' }, 'ended'],
    ['its live meeting [AUD-5]', 'a', live, 'recorder'],
    ['whichever phone meeting is live [AUD-1]', null, live, 'recorder'],
  ])('is told with %s', (_, launch, meeting, expected) => {
    const place = placeOfNew(launch, meeting);
    expect(place.kind === 'recorder' ? 'recorder' : place.message.state).toBe(expected);
  });

  it('is ended where its meeting gave way to another [AUD-7]', () => {
    expect(placeOfOpen('a', { ...live, launch: 'b' })).toMatchObject({ message: { state: 'ended' } });
    expect(placeOfOpen('a', null)).toMatchObject({ message: { state: 'ended' } });
  });

  it('is told why a meeting failed [AUD-9]', () => {
    const place = placeOfOpen('a', { ...live, state: 'failed', error: 'no disk' });
    expect(place).toMatchObject({ message: { reason: 'no disk' } });
  });

  it('ends with refused, ended and replaced alone [AUD-3]', () => {
    const reason = '';
    const states = ['waiting', 'refused', 'ended', 'replaced'] as const;
    expect(states.map((state) => isLast({ state, reason }))).toEqual([false, true, true, true]);
    expect(isLast({ state: 'connected' })).toBe(false);
  });
});
