import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import type { RequestView } from '../../src/http/request-view.ts';
import type { Socket, SocketHandler } from '../../src/http/socket.ts';
import { meetingAudioRows } from '../../src/routes/meeting-audio.ts';
import { InProcessAudio } from './in-process-callers.ts';

let clock: FakeClock;
let audio: InProcessAudio;
let open: (query?: Record<string, string>) => {
  handler: SocketHandler;
  sent: string[];
  closed: [number, string][];
};
beforeEach(() => {
  clock = new FakeClock();
  audio = new InProcessAudio();
  const [row] = meetingAudioRows({ audio }, { clock });
  open = (query = {}) => {
    const sent: string[] = [];
    const closed: [number, string][] = [];
    const socket: Socket = {
      send: (message) => void sent.push(Buffer.from(message).toString()),
      unsent: 0,
      close: (code, reason) => void closed.push([code, reason]),
    };
    return { handler: row!.socket!.open(socket, { query } as RequestView), sent, closed };
  };
});

const said = (event: string) =>
  audio.heard.filter((one) => one.event === event).map(({ payload }) => payload);
const frame = new Uint8Array(640).fill(7);

describe('the socket of a phone on the main thread', () => {
  it('[AUD-1] [AUD-2] is told to the audio component with the recording that it asks for, and its frames unchanged', () => {
    const first = open({ launch: 'L1' });
    const second = open();
    expect(said('audio_opened')).toEqual([
      { id: 1, launch: 'L1' },
      { id: 2, launch: null },
    ]);
    first.handler.message?.(frame);
    const [given] = audio.heard.filter(({ event }) => event === 'audio_frame');
    expect(given).toMatchObject({ payload: { id: 1 } });
    expect(given?.bulk).toEqual(frame);
    expect(given?.bulk?.buffer).not.toBe(frame.buffer);
    second.handler.closed?.();
    expect(said('audio_closed')).toEqual([{ id: 2 }]);
  });

  it('[AUD-2] counts the frames that the audio component cannot be given, and tells it with the next one', () => {
    const { handler } = open();
    handler.message?.(frame);
    audio.refuses = true;
    for (let at = 0; at < 3; at += 1) handler.message?.(frame);
    audio.refuses = false;
    handler.message?.(frame);
    handler.message?.(frame);
    expect(said('audio_frame')).toEqual([
      { id: 1, missed: 0 },
      { id: 1, missed: 3 },
      { id: 1, missed: 0 },
    ]);
  });

  it('[AUD-3] [AUD-9] is told each state once, and closed with the code of the last one', () => {
    const { sent, closed } = open();
    const tell = (message: Parameters<typeof audio.tell<'audio_sockets'>>[1]['sockets'][number]['message']) =>
      audio.tell('audio_sockets', {
        sockets: [
          { id: 1, message },
          { id: 99, message },
        ],
      });
    tell({ state: 'waiting', reason: 'it loads' });
    tell({ state: 'waiting', reason: 'it loads' });
    tell({ state: 'connected' });
    tell({ state: 'ended', reason: 'The meeting is over.' });
    expect(sent.map((text) => JSON.parse(text).state)).toEqual(['waiting', 'connected', 'ended']);
    expect(closed).toEqual([[4410, 'The meeting is over.']]);
  });

  it('[AUD-10] [LIM-14] is closed after a minute without audio, and not before', () => {
    const { handler, closed } = open();
    for (let seconds = 0; seconds < 150; seconds += 50) {
      clock.advance(50_000);
      handler.message?.(frame);
    }
    clock.advance(59_999);
    expect(closed).toEqual([]);
    clock.advance(2);
    expect(closed).toEqual([[1000, 'No audio came for a minute.']]);
  });

  it('is closed where a message holds half a sample', () => {
    const { handler, closed } = open();
    handler.message?.(new Uint8Array(641));
    expect(closed[0]?.[0]).toBe(1007);
    expect(said('audio_frame')).toEqual([]);
  });

  it('[P1] is told again to an audio component that was restarted', () => {
    const left = open({ launch: 'L1' });
    open({ launch: 'L2' });
    left.handler.closed?.();
    audio.heard.length = 0;
    audio.tell('audio_started', {});
    expect(said('audio_opened')).toEqual([{ id: 2, launch: 'L2' }]);
  });
});
