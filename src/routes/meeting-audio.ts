import type { Clock } from '../base/clock.ts';
import {
  AUDIO_CLOSE_CODES,
  type AudioMessage,
  audioMessageSchema,
  audioQuerySchema,
} from '../contract/http/meeting.ts';
import type { AudioSocket } from '../contract/threads/audio.ts';
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

/** What passes the audio of phones on, as one listener of phones sees it; phones are known by the listener’s numbers. */
export type PhoneRelay = {
  /** A phone has connected; `launch` is the recording that it asks for, null for whichever there is. */
  open(id: number, launch: string | null): void;
  /** One message of it, which is not changed later, and how many before it were not taken; false where it is not taken. */
  frame(id: number, bytes: Uint8Array, missed: number): boolean;
  close(id: number): void;
  /** `hear` is told the state of each phone when that of one has changed. */
  onStates(hear: (phones: AudioSocket[]) => void): void;
  /** `hear` is called when the relay has started and knows no phone. */
  onStart(hear: () => void): void;
};

/** The route as the main thread serves it: the relay is in the audio component. */
export function meetingAudioRows(
  { audio }: Pick<Callers, 'audio'>,
  { clock }: Pick<RouteContext, 'clock'>,
): Row[] {
  const relay: PhoneRelay = {
    open: (id, launch) => void audio.notify('audio_opened', { id, launch }),
    frame: (id, bytes, missed) => audio.notify('audio_frame', { id, missed }, bytes),
    close: (id) => void audio.notify('audio_closed', { id }),
    onStates: (hear) => void audio.onEvent('audio_sockets', ({ sockets }) => hear(sockets)),
    onStart: (hear) => void audio.onEvent('audio_started', hear),
  };
  return [meetingAudioRow(relay, clock)];
}

/** `GET /meeting/audio`: a WebSocket through which a phone records (AUD-1 to AUD-10). */
export function meetingAudioRow(relay: PhoneRelay, clock: Clock): Row {
  const phones = new Map<number, Phone>();
  let last_id = 0;
  relay.onStart(() => {
    for (const phone of phones.values()) phone.announce();
  });
  relay.onStates((states) => {
    for (const { id, message } of states) phones.get(id)?.tell(message);
  });
  return defineSocketRow({
    path: '/api/v1/meeting/audio',
    summary: 'Takes the audio of a phone for the meeting that this host records',
    example: { query: 'launch=01k00000000000000000000000' },
    page: 'meetings.md',
    routing: 'local',
    state: 'ready',
    query: audioQuerySchema,
    page_query: true,
    socket: {
      sends: audioMessageSchema,
      takes: { message: 'bytes', most_bytes: MESSAGE_BYTES },
      most: MOST_PHONES,
      unsent_bytes: UNSENT_BYTES,
      open(socket, request) {
        const { launch = null } = audioQuerySchema.parse(request.query);
        last_id += 1;
        const id = last_id;
        const phone = new Phone({ id, launch, socket, relay, clock, forget: () => phones.delete(id) });
        phones.set(id, phone);
        phone.announce();
        return phone;
      },
    },
  });
}

type PhoneOptions = {
  /** Its number, by which the relay knows it. */
  id: number;
  /** The recording that it asks for; null for whichever there is. */
  launch: string | null;
  socket: Socket;
  relay: PhoneRelay;
  clock: Clock;
  forget(): void;
};

/** One phone: its frames go to the relay, and what that says of it comes back. */
class Phone implements SocketHandler<Uint8Array> {
  readonly #in: PhoneOptions;
  #told = '';
  #heard_at: number;
  /** Frames that the relay could not be given since the last one that it was. */
  #missed = 0;
  #cancel: () => void = () => undefined;

  constructor(options: PhoneOptions) {
    this.#in = options;
    this.#heard_at = options.clock.now();
    this.#watchIdle(IDLE_MS);
  }

  /** A relay that starts knows no phone. */
  announce(): void {
    const { id, launch, relay } = this.#in;
    relay.open(id, launch);
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
    const { id, relay, clock, socket } = this.#in;
    this.#heard_at = clock.now();
    if (frame.length % 2 === 1) {
      socket.close(NOT_SAMPLES_CODE, 'A message holds whole samples of 16 bits.');
      return;
    }
    // The bytes are lent; a frame that the relay cannot take now is dropped and counted, as nothing is queued.
    const is_taken = relay.frame(id, new Uint8Array(frame), this.#missed);
    this.#missed = is_taken ? 0 : this.#missed + 1;
  }

  closed(): void {
    const { id, relay, forget } = this.#in;
    this.#cancel();
    forget();
    relay.close(id);
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
