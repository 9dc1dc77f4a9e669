import { connect, type Socket } from 'node:net';
import { type Clock, sleep } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { AudioMessage, MeetingAudio } from '../contract/http/meeting.ts';
import type { AudioSocket } from '../contract/threads/audio.ts';
import { type AudioPlace, isLast, placeOfNew, placeOfOpen } from './audio-socket.ts';
import type { RelayedMeeting } from './meeting-service.ts';
import { PeakMeter } from './peak-meter.ts';

/** Milliseconds between two tries to connect to the recorder (AUD-2). */
const RETRY_MS = 500;
/** How long after the recorder closed a connection it is looked at again, in milliseconds: a crash shows by then. */
const CLOSED_LOOKS_MS = [0, 300, 700];

export type AudioRelayOptions = {
  clock: Clock;
  logger: Logger;
  /** The meeting as it was seen last. */
  meeting(): RelayedMeeting | null;
  /** Looks at the meeting now. */
  look(): Promise<void>;
  /** Throws for a socket that another user may have made. */
  requireOwn(socket: string): Promise<unknown>;
};

/** The phones of one listener. */
export type ListenerPhones = {
  /** A phone has connected; `launch` is the recording that it asks for, null for whichever there is. */
  open(id: number, launch: string | null): void;
  /** One message of it; `missed` ones before it never came here. The bytes are not changed later. */
  frame(id: number, bytes: Uint8Array, missed: number): void;
  close(id: number): void;
};

/**
 * Passes the frames of phones to the recorder, each as it came. A frame that the recorder cannot take at once is dropped
 * whole, so that nothing is queued here and no sample is cut. The recorder decides which sender it takes.
 */
export class AudioRelay {
  readonly #in: AudioRelayOptions;
  readonly #phones = new Set<Phone>();
  #meter = new PeakMeter();
  #frames = 0;
  #dropped = 0;
  #launch: string | null = null;

  constructor(options: AudioRelayOptions) {
    this.#in = options;
  }

  get sockets(): number {
    return this.#phones.size;
  }

  /** The phones of one more listener; `changed` is told the state of each of them when that of one has changed. */
  listener(changed: (phones: AudioSocket[]) => void): ListenerPhones {
    const phones = new Map<number, Phone>();
    const close = (id: number) => {
      const phone = phones.get(id);
      phones.delete(id);
      if (phone !== undefined) this.#close(phone);
    };
    return {
      open: (id, launch) => {
        close(id);
        const tell = () => changed([...phones].map(([one, { message }]) => ({ id: one, message })));
        phones.set(id, this.#open(launch, tell));
        tell();
      },
      frame: (id, bytes, missed) => this.#frame(phones.get(id), bytes, missed),
      close,
    };
  }

  /** What passes through; null without a phone meeting. */
  view(): MeetingAudio | null {
    const meeting = this.#in.meeting();
    if (meeting === null || meeting.mode !== 'phone') return null;
    const connected = [...this.#phones].some((phone) => phone.message.state === 'connected');
    return {
      connected,
      peak_db: connected ? this.#meter.peakDb(this.#in.clock.now()) : null,
      frames: this.#frames,
      dropped: this.#dropped,
    };
  }

  /** Holds each socket against the meeting, which was looked at. */
  followMeeting(): void {
    const meeting = this.#in.meeting();
    if (meeting !== null && meeting.launch !== this.#launch) {
      this.#launch = meeting.launch;
      this.#meter = new PeakMeter();
      this.#frames = 0;
      this.#dropped = 0;
    }
    for (const phone of this.#phones)
      if (!isLast(phone.message)) this.#put(phone, placeOfOpen(phone.launch, meeting));
  }

  stop(): void {
    for (const phone of [...this.#phones]) this.#close(phone);
  }

  #open(launch: string | null, changed: () => void): Phone {
    const meeting = this.#in.meeting();
    const phone: Phone = {
      launch: launch ?? meeting?.launch ?? '',
      message: { state: 'waiting', reason: 'The recorder is being connected; audio is not recorded yet.' },
      ...{ line: null, dialling: false, retry: null, changed },
    };
    this.#phones.add(phone);
    this.#put(phone, placeOfNew(launch, meeting));
    return phone;
  }

  #frame(phone: Phone | undefined, bytes: Uint8Array, missed: number): void {
    const line = phone?.line ?? null;
    this.#dropped += missed;
    if (phone === undefined || isLast(phone.message)) return;
    this.#meter.add(bytes, this.#in.clock.now());
    if (phone.message.state !== 'connected' || line === null || line.writableLength > 0) {
      this.#dropped += 1;
      return;
    }
    this.#frames += 1;
    line.write(bytes);
  }

  #close(phone: Phone): void {
    this.#phones.delete(phone);
    this.#hangUp(phone);
  }

  #put(phone: Phone, place: AudioPlace): void {
    if (place.kind === 'recorder') {
      // Its line may have outlived a look at which the recorder could not be seen.
      if (phone.line !== null) this.#tell(phone, { state: 'connected' });
      else if (!phone.dialling && phone.retry === null) void this.#dial(phone, place.socket);
      return;
    }
    // A recorder that is not live any more closes its line by itself once it has read what is in it.
    if (isLast(place.message)) this.#hangUp(phone);
    this.#tell(phone, place.message);
  }

  async #dial(phone: Phone, socket: string): Promise<void> {
    phone.dialling = true;
    try {
      await this.#in.requireOwn(socket);
    } catch (error) {
      this.#in.logger.warn({ err: error }, 'the socket of the recorder is not used');
      phone.dialling = false;
      this.#retryLater(phone);
      return;
    }
    if (isLast(phone.message) || !this.#phones.has(phone)) {
      phone.dialling = false;
      return;
    }
    const line = connect({ path: socket });
    line.once('connect', () => {
      phone.dialling = false;
      if (isLast(phone.message) || !this.#phones.has(phone)) {
        line.destroy();
        return;
      }
      phone.line = line;
      this.#tell(phone, { state: 'connected' });
    });
    // It sends nothing, and a line that is not read would never tell its end.
    line.resume();
    line.on('error', () => undefined);
    line.once('close', () => {
      const had = phone.line === line;
      phone.dialling = false;
      if (had) {
        phone.line = null;
        void this.#lost(phone);
      } else if (phone.line === null && !isLast(phone.message)) this.#retryLater(phone);
    });
  }

  /** The recorder closed its line: it took another sender, or it stops, which it says before it closes. */
  async #lost(phone: Phone): Promise<void> {
    if (isLast(phone.message) || !this.#phones.has(phone)) return;
    phone.dialling = true;
    let waited = 0;
    for (const at of CLOSED_LOOKS_MS) {
      await sleep(this.#in.clock, at - waited);
      waited = at;
      await this.#in.look().catch(() => undefined);
      if (isLast(phone.message)) return;
    }
    phone.dialling = false;
    if (this.#phones.has(phone))
      this.#tell(phone, { state: 'replaced', reason: 'Another phone has taken over the microphone.' });
  }

  #retryLater(phone: Phone): void {
    if (isLast(phone.message) || !this.#phones.has(phone)) return;
    this.#tell(phone, { state: 'waiting', reason: 'The recorder does not take audio yet.' });
    phone.retry ??= this.#in.clock.after(RETRY_MS, () => {
      phone.retry = null;
      if (!isLast(phone.message) && this.#phones.has(phone))
        this.#put(phone, placeOfOpen(phone.launch, this.#in.meeting()));
    });
  }

  #tell(phone: Phone, message: AudioMessage): void {
    if (JSON.stringify(phone.message) === JSON.stringify(message)) return;
    phone.message = message;
    phone.changed();
  }

  #hangUp(phone: Phone): void {
    phone.retry?.();
    phone.retry = null;
    const { line } = phone;
    phone.line = null;
    line?.destroy();
  }
}

type Phone = {
  /** The recording that it is bound to. */
  launch: string;
  message: AudioMessage;
  /** The connection to the recorder. */
  line: Socket | null;
  dialling: boolean;
  /** Cancels the next try to connect. */
  retry: (() => void) | null;
  /** Told when its message is another one. */
  changed(): void;
};
