import type { Clock } from '../base/clock.ts';
import {
  AUDIO_CLOSE_CODES,
  type AudioMessage,
  audioMessageSchema,
  audioQuerySchema,
} from '../contract/http/meeting.ts';
import { defineSocketRow, type Row } from '../http/row.ts';
import type { Socket, SocketHandler } from '../http/socket.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';

/** Phones that may be connected at one time. */
const MOST_PHONES = 64;
/** Bytes of one message: two seconds of audio. */
const MESSAGE_BYTES = 64 * 1024;
/** Far more than the few short messages that a phone is told. */
const UNSENT_BYTES = 64 * 1024;
/** A socket without audio for so many milliseconds is closed (AUD-10). */
const IDLE_MS = 60_000;
/** Close codes of RFC 6455: an orderly end, and data that is not of its type. */
const IDLE_CODE = 1000;
const NOT_SAMPLES_CODE = 1007;

/** `GET /meeting/audio`: a WebSocket through which a phone records (AUD-1 to AUD-10). */
export function meetingAudioRows(
  { audio }: Pick<Callers, 'audio'>,
  { clock }: Pick<RouteContext, 'clock'>,
): Row[] {
  const phones = new Map<number, Phone>();
  let last_id = 0;
  audio.onEvent('audio_started', () => {
    for (const phone of phones.values()) phone.announce();
  });
  audio.onEvent('audio_sockets', ({ sockets }) => {
    for (const { id, message } of sockets) phones.get(id)?.tell(message);
  });
  return [
    defineSocketRow({
      path: '/api/v1/meeting/audio',
      summary: 'Takes the audio of a phone for the meeting that this host records',
      example: { query: 'launch=01k00000000000000000000000' },
      page: 'meetings.md',
      routing: 'local',
      state: 'ready',
      query: audioQuerySchema,
      socket: {
        sends: audioMessageSchema,
        takes: { message: 'bytes', most_bytes: MESSAGE_BYTES },
        most: MOST_PHONES,
        unsent_bytes: UNSENT_BYTES,
        open(socket, request) {
          const { launch = null } = audioQuerySchema.parse(request.query);
          last_id += 1;
          const id = last_id;
          const phone = new Phone({ id, launch, socket, audio, clock, forget: () => phones.delete(id) });
          phones.set(id, phone);
          phone.announce();
          return phone;
        },
      },
    }),
  ];
}

type PhoneOptions = {
  /** Its number, by which the audio component knows it. */
  id: number;
  /** The recording that it asks for; null for whichever there is. */
  launch: string | null;
  socket: Socket;
  audio: Pick<Callers['audio'], 'notify'>;
  clock: Clock;
  forget(): void;
};

/** One phone: its frames go to the audio component, and what that says of it comes back. */
class Phone implements SocketHandler<Uint8Array> {
  readonly #in: PhoneOptions;
  #told = '';
  #heard_at: number;
  /** Frames that the component could not be given since the last one that it was. */
  #missed = 0;
  #cancel: () => void = () => undefined;

  constructor(options: PhoneOptions) {
    this.#in = options;
    this.#heard_at = options.clock.now();
    this.#watchIdle(IDLE_MS);
  }

  /** A component that starts knows no phone. */
  announce(): void {
    const { id, launch, audio } = this.#in;
    audio.notify('audio_opened', { id, launch });
  }

  tell(message: AudioMessage): void {
    const { socket } = this.#in;
    const text = JSON.stringify(message);
    if (text === this.#told) return;
    this.#told = text;
    socket.send(Buffer.from(text));
    if (message.state === 'waiting' || message.state === 'connected') return;
    socket.close(AUDIO_CLOSE_CODES[message.state], message.reason);
  }

  message(frame: Uint8Array): void {
    const { id, audio, clock, socket } = this.#in;
    this.#heard_at = clock.now();
    if (frame.length % 2 === 1) {
      socket.close(NOT_SAMPLES_CODE, 'A message holds whole samples of 16 bits.');
      return;
    }
    // The bytes are lent; a frame that the component cannot take now is dropped and counted, as nothing is queued.
    const is_taken = audio.notify('audio_frame', { id, missed: this.#missed }, new Uint8Array(frame));
    this.#missed = is_taken ? 0 : this.#missed + 1;
  }

  closed(): void {
    const { id, audio, forget } = this.#in;
    this.#cancel();
    forget();
    audio.notify('audio_closed', { id });
  }

  #watchIdle(ms: number): void {
    const { clock, socket } = this.#in;
    this.#cancel = clock.after(ms, () => {
      const left = this.#heard_at + IDLE_MS - clock.now();
      // A clock that was set back would keep it open for as long.
      if (left <= 0 || left > IDLE_MS) socket.close(IDLE_CODE, 'No audio came for a minute.');
      else this.#watchIdle(left);
    });
  }
}
