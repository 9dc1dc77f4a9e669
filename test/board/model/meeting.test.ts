import { describe, expect, it } from 'vitest';
import { type AudioState, audioSays } from '../../../board/src/model/audio-words.ts';
import {
  agedMs,
  captureMeeting,
  elapsedText,
  isRunning,
  joinMeeting,
  type KnownMeeting,
  NO_CHOICE,
  pillOf,
  refusedMeeting,
  SELDOM_MS,
  SHOWN_MS,
  spokenLine,
} from '../../../board/src/model/meeting.ts';
import type { Meeting, MeetingAnswer } from '../../../board/src/model/wire.ts';
import { captureRequestSchema } from '../../../src/contract/http/capture.ts';
import { meetingAnswerSchema, meetingJoinSchema } from '../../../src/contract/http/meeting.ts';

const NOW = 1_000_000;

const MEETING: Meeting = {
  ...{ state: 'live', mode: 'phone', title: 'Gauges', started_at: NOW - 67_000, tail: [], transcript: '/t' },
  ...{
    mirror_host: null,
    fiber: null,
    joined: false,
    phone: true,
    launch: 'l',
    mux_session: 'm',
    error: null,
  },
};
const AUDIO = { connected: true, peak_db: -12, frames: 9, dropped: 0 };

function known(
  meeting: Partial<Meeting> | null,
  audio: Partial<typeof AUDIO> | null = {},
  age = 0,
): KnownMeeting {
  const answer: MeetingAnswer = {
    ...{ available: true, unavailable: null, modes: ['phone'] },
    meeting: meeting === null ? null : { ...MEETING, ...meeting },
    audio: audio === null ? null : { ...AUDIO, ...audio },
  };
  expect(meetingAnswerSchema.safeParse(answer).success).toBe(true);
  return { answer, heard_at: NOW - age, refusal: null };
}

describe('a meeting at the top of the board', () => {
  it.each<[string, KnownMeeting, string | null, string?]>([
    ['nothing before it was asked', { answer: null, heard_at: null, refusal: null }, null],
    ['nothing without one', known(null, null), null],
    ['how long it has lasted', known({}), '1:07', 'live'],
    ['the same of one without a phone', known({ mode: 'room', phone: false }, null), '1:07', 'live'],
    ['that no phone is there', known({}, { connected: false }), 'no phone', 'fault'],
    ['that it begins', known({ state: 'loading' }), 'loads', 'waiting'],
    ['that it ends', known({ state: 'stopping' }), 'stops', 'waiting'],
    ['that it failed', known({ state: 'failed', error: 'No model.' }), 'failed', 'fault'],
    ['that something is wrong with it', known({ error: 'The disk is full.' }), 'has a fault', 'fault'],
    ['how old that is, while nothing is answered', known({}, {}, 60_000), 'as of 1 min ago', 'waiting'],
  ])('says %s', (_, from, says, tone) => {
    const pill = pillOf(from, SELDOM_MS, NOW);
    expect(pill?.says ?? null).toBe(says);
    if (pill !== null) expect([pill.title, pill.tone]).toEqual(['Gauges', tone]);
  });

  it('shows how loud it is only while that is as of now', () => {
    expect(pillOf(known({}), SELDOM_MS, NOW)?.peak_db).toBe(-12);
    expect(pillOf(known({}, {}, 60_000), SELDOM_MS, NOW)?.peak_db).toBeNull();
    expect(pillOf(known({}, { connected: false }), SELDOM_MS, NOW)?.peak_db).toBeNull();
  });

  it.each([
    [SHOWN_MS, 4_000, null],
    [SHOWN_MS, 5_001, 5_001],
    [SELDOM_MS, 18_999, null],
    [SELDOM_MS, 19_001, 19_001],
  ])('asked every %i ms is %i ms later as old as %s', (every_ms, age, told) => {
    expect(agedMs({ heard_at: NOW - age }, every_ms, NOW)).toBe(told);
    expect(agedMs({ heard_at: null }, every_ms, NOW)).toBeNull();
  });

  it.each([
    [-5, '0:00'],
    [7_900, '0:07'],
    [724_000, '12:04'],
    [3_727_000, '1:02:07'],
  ])('after %i ms has lasted %s', (ms, text) => expect(elapsedText(ms)).toBe(text));

  it('keeps another one from starting unless it failed', () => {
    for (const state of ['starting', 'loading', 'live', 'stopping', 'failed'] as const)
      expect(isRunning({ ...MEETING, state }), state).toBe(state !== 'failed');
    expect(isRunning(null)).toBe(false);
  });
});

it.each([
  ['10:04:31-10:04:33 S1 we go on', { at: '10:04:31', speaker: 'S1', text: 'we go on' }],
  ['10:04:31-10:04:33 S2 ', { at: '10:04:31', speaker: 'S2', text: '' }],
  ['anything else', { at: '', speaker: '', text: 'anything else' }],
])('reads the line %j of a transcript', (line, parts) => expect(spokenLine(line)).toEqual(parts));

describe('what is asked of the daemon', () => {
  it('[CAP-2] [CAP-3] is a capture with a meeting, whose note may be left out', () => {
    const least = captureMeeting('phone', { ...NO_CHOICE, project: '/p', note: '  ' }, '');
    expect(least).toEqual({ project_dir: '/p', meeting: { mode: 'phone' } });
    const most = captureMeeting('room', { project: '/p', note: ' Gauges\nall ', host: 'basalt' }, '/s');
    expect(most).toEqual({
      ...{
        project_dir: '/p',
        meeting: { mode: 'room' },
        prompt: 'Gauges\nall',
        store: '/s',
        origin: 'basalt',
      },
    });
    for (const one of [least, most]) expect(captureRequestSchema.parse(one)).toEqual(one);
  });

  it('[WPL-7] is a meeting that joins a fiber of any host', () => {
    const least = joinMeeting('phone', 'a/b', null, ' ');
    expect(least).toEqual({ fiber_id: 'a/b', meeting: { mode: 'phone' } });
    const most = joinMeeting('call', 'a/b', 'basalt', ' Gauges ');
    expect(most).toEqual({ fiber_id: 'a/b', origin: 'basalt', meeting: { mode: 'call' }, note: 'Gauges' });
    for (const one of [least, most]) expect(meetingJoinSchema.parse(one)).toEqual(one);
  });

  it.each<[unknown, boolean, boolean]>([
    [null, false, false],
    ['text', false, false],
    [{ error: 'x' }, false, false],
    [{ meeting: MEETING }, true, false],
    [{ meeting: MEETING, recording: false }, true, false],
    [{ meeting: MEETING, recording: true }, true, true],
    [{ meeting: null, recording: true }, false, true],
  ])('is refused with %j: a meeting %s, recorded all the same %s', (body, there, recording) => {
    expect(refusedMeeting(body)).toEqual({ meeting: there ? MEETING : null, recording });
  });
});

describe('how the audio stands', () => {
  const STATES: readonly [AudioState, boolean, string, string | null][] = [
    [{ kind: 'off' }, false, 'No phone is the microphone', 'use'],
    [{ kind: 'opening' }, false, 'It may ask you first', null],
    [{ kind: 'open' }, false, 'Nothing is recorded until', null],
    [{ kind: 'no_microphone', name: 'NotAllowedError', message: '' }, false, 'not allowed', 'use'],
    [{ kind: 'no_microphone', name: 'NotFoundError', message: '' }, false, 'no microphone', 'use'],
    [{ kind: 'no_microphone', name: 'NotReadableError', message: '' }, false, 'Another program', 'use'],
    [{ kind: 'no_microphone', name: 'OddError', message: 'It broke.' }, false, 'It broke.', 'use'],
    [{ kind: 'connecting' }, false, 'Connecting', null],
    [{ kind: 'waiting', reason: 'It loads.' }, false, 'It loads.', null],
    [{ kind: 'waiting', reason: '' }, false, 'nothing is recorded', null],
    [{ kind: 'connected' }, false, 'This phone is the microphone.', null],
    [{ kind: 'connected' }, true, 'silences its microphone', 'use'],
    [{ kind: 'taken_away' }, true, 'taken away', 'use'],
    [{ kind: 'lost' }, false, 'tried again', null],
    [{ kind: 'over', why: 'replaced', reason: 'R' }, true, 'Another phone has taken over', 'take_over'],
    [{ kind: 'over', why: 'ended', reason: 'It stopped.' }, false, 'It stopped.', null],
    [{ kind: 'over', why: 'refused', reason: 'Another one.' }, false, 'Another one.', 'again'],
  ];

  it.each(STATES)('is one sentence or two with what to do: %j, muted %s', (state, muted, text, offer) => {
    const says = audioSays(state, muted, false);
    expect(says.text).toContain(text);
    expect(says.text).toMatch(/^[A-Z].*\.$/);
    expect(says.offer).toBe(offer);
    // Only what is recorded looks as if it were.
    expect(says.tone === 'live').toBe(state.kind === 'connected' && !muted);
  });

  it('[AUD-8] warns before this phone takes over from another one', () => {
    expect(audioSays({ kind: 'off' }, false, true).text).toContain('takes over');
  });
});
