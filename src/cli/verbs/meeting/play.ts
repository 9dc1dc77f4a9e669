import { once } from 'node:events';
import { WebSocket } from 'ws';
import { type Clock, sleep } from '../../../base/clock.ts';
import { CodedError, messageOf } from '../../../base/errors.ts';
import { shellWord } from '../../../base/shell-word.ts';
import { type AudioMessage, audioMessageSchema } from '../../../contract/http/meeting.ts';
import { SAMPLE_RATE } from '../../../contract/recorder.ts';
import type { DaemonAddress } from '../../daemon-client/client.ts';

/** Milliseconds of audio in one message, and the bytes of it. */
const FRAME_MS = 20;
const FRAME_BYTES = (SAMPLE_RATE * 2 * FRAME_MS) / 1_000;
/** How long it waits until the recorder takes audio, in milliseconds. */
const CONNECT_MS = 60_000;

/** The samples of a WAV file; throws `invalid_request` for any other sound, with the command that makes it one. */
export function samplesOfWav(file: Buffer, name: string): Buffer {
  const refuse = (what: string) =>
    new CodedError(
      'invalid_request',
      `${name} ${what}; make it one with: ffmpeg -i ${shellWord(name)} -ar ${SAMPLE_RATE} -ac 1 -c:a pcm_s16le speech.wav`,
    );
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE')
    throw refuse('is no WAV file');
  let format: string | null = null;
  for (let at = 12; at + 8 <= file.length; ) {
    const id = file.toString('latin1', at, at + 4);
    const size = file.readUInt32LE(at + 4);
    const from = at + 8;
    if (id === 'fmt ' && from + 16 <= file.length)
      format = [file.readUInt16LE(from), file.readUInt16LE(from + 2), file.readUInt32LE(from + 4)]
        .concat(file.readUInt16LE(from + 14))
        .join(' ');
    if (id === 'data') {
      if (format !== `1 1 ${SAMPLE_RATE} 16`)
        throw refuse(`is no WAV file of ${SAMPLE_RATE} Hz, one channel and 16 bit`);
      const samples = file.subarray(from, Math.min(file.length, from + size));
      return samples.subarray(0, samples.length - (samples.length % 2));
    }
    at = from + size + (size % 2);
  }
  throw refuse('has no sound');
}

/** Sends samples to the meeting of a daemon at the pace at which they are heard; throws where it does not take them. */
export async function playSamples(
  address: DaemonAddress,
  samples: Buffer,
  clock: Clock,
  said: (message: AudioMessage) => void,
): Promise<void> {
  const client = new WebSocket(urlOf(address), { perMessageDeflate: false });
  let state = { state: 'waiting', reason: 'not connected yet' } as AudioMessage;
  let fault: string | null = null;
  client.on('message', (data) => {
    state = audioMessageSchema.parse(JSON.parse(String(data)));
    said(state);
  });
  client.on('error', (error) => {
    fault = messageOf(error);
  });
  const isOver = () => client.readyState === WebSocket.CLOSED || client.readyState === WebSocket.CLOSING;
  const requireOpen = () => {
    if (!isOver()) return;
    const why = 'reason' in state && fault === null ? state.reason : (fault ?? 'the connection was closed');
    throw new CodedError('no_meeting', `the meeting takes no audio: ${why}`);
  };
  try {
    const until = clock.now() + CONNECT_MS;
    while (state.state !== 'connected') {
      requireOpen();
      if (clock.now() > until) throw new CodedError('deadline_exceeded', 'the recorder does not get ready');
      await sleep(clock, FRAME_MS);
    }
    const began = clock.now();
    for (let from = 0; from < samples.length; from += FRAME_BYTES) {
      requireOpen();
      client.send(samples.subarray(from, from + FRAME_BYTES));
      const due = began + (from / FRAME_BYTES + 1) * FRAME_MS;
      if (due > clock.now()) await sleep(clock, due - clock.now());
    }
  } finally {
    if (!isOver()) {
      client.close();
      await Promise.race([once(client, 'close'), sleep(clock, 1_000)]);
    }
    client.terminate();
  }
}

function urlOf(address: DaemonAddress): string {
  const path = '/api/v1/meeting/audio';
  if ('socketPath' in address) return `ws+unix://${address.socketPath}:${path}`;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `ws://${host}:${address.port}${path}`;
}

/** What is spoken where no file is named: a short meeting of two, one sentence at a time. */
export const CONVERSATION = [
  'Good morning, and thank you for coming.',
  'Today we talk about the budget of next year.',
  'The old machine is slow, and we need a new one.',
  'I think that we can pay for it in the spring.',
  'Then we agree, and I will write the order this week.',
] as const;
