import type { LinkState, OverBy } from '../model/audio-words.ts';
import type { AudioMessage } from '../model/wire.ts';

export type AudioSocket = {
  send(frame: ArrayBuffer): void;
  /** Bytes that were given to it and not sent yet. */
  buffered(): number;
  close(): void;
};

/** What a link needs of its surroundings. */
export type LinkSurroundings = {
  /** `closed` is called once, also for a socket that never opened, but not after `close`. */
  open(on: { message(text: string): void; closed(code: number, reason: string): void }): AudioSocket;
  now(): number;
  /** Runs something later; answers how to call it off. */
  after(ms: number, run: () => void): () => void;
};

/** Two seconds of audio: a link that is so far behind drops what comes (LIM-14). */
export const BEHIND_BYTES = 64_000;
/** A link that has been behind for so long leads nowhere. */
const STALLED_MS = 10_000;
/** A daemon says at once how a connection stands; a browser itself gives up a network that is gone after minutes. */
const UNANSWERED_MS = 10_000;
/** The last is short: what is said between the return of the daemon and the next try is lost. */
const RETRY_MS = [500, 1_000, 2_000] as const;
/** As in the contract. */
const OVER_CODES: Readonly<Record<number, OverBy>> = { 4404: 'refused', 4409: 'replaced', 4410: 'ended' };

/**
 * Carries frames of audio to the daemon, over one socket after another: a lost one is opened again, and one that the
 * daemon closed for a reason never.
 */
export class AudioLink {
  readonly #in: LinkSurroundings;
  readonly #changed: (state: LinkState) => void;
  #state: LinkState = { kind: 'connecting' };
  #socket: AudioSocket | null = null;
  #failures = 0;
  #behind_since: number | null = null;
  #callOff: () => void = () => undefined;

  constructor(surroundings: LinkSurroundings, changed: (state: LinkState) => void) {
    this.#in = surroundings;
    this.#changed = changed;
  }

  /** Connects, whatever was before; also to take over again. */
  open(): void {
    this.close();
    this.#become({ kind: 'connecting' });
    const socket = this.#in.open({
      message: (text) => {
        if (this.#socket === socket) this.#hear(text);
      },
      closed: (code, reason) => {
        if (this.#socket === socket) this.#lose(code, reason);
      },
    });
    this.#socket = socket;
    this.#callOff = this.#in.after(UNANSWERED_MS, () => this.#retry());
  }

  /** Sends a frame, or drops it: `idle` where the recorder takes none, `behind` where the line is two seconds behind. */
  send(frame: ArrayBuffer): 'sent' | 'behind' | 'idle' {
    if (this.#socket === null || this.#state.kind !== 'connected') return 'idle';
    if (this.#socket.buffered() <= BEHIND_BYTES) {
      this.#behind_since = null;
      this.#socket.send(frame);
      return 'sent';
    }
    this.#behind_since ??= this.#in.now();
    if (this.#in.now() - this.#behind_since >= STALLED_MS) this.#retry();
    return 'behind';
  }

  /** Lets go of the socket and tries nothing more. */
  close(): void {
    this.#callOff();
    this.#behind_since = null;
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  #hear(text: string): void {
    const message = messageOf(text);
    if (message === null) return;
    this.#callOff();
    this.#failures = 0;
    if (message.state === 'waiting') this.#become({ kind: 'waiting', reason: message.reason });
    else if (message.state === 'connected') this.#become({ kind: 'connected' });
    else this.#end(message.state, message.reason);
  }

  #lose(code: number, reason: string): void {
    this.#socket = null;
    const why = OVER_CODES[code];
    if (why === undefined) this.#retry();
    else this.#end(why, reason);
  }

  #end(why: OverBy, reason: string): void {
    this.close();
    this.#become({ kind: 'over', why, reason });
  }

  #retry(): void {
    this.close();
    const wait = RETRY_MS[Math.min(this.#failures, RETRY_MS.length - 1)] ?? 0;
    this.#failures += 1;
    this.#become({ kind: 'lost' });
    this.#callOff = this.#in.after(wait, () => this.open());
  }

  #become(state: LinkState): void {
    this.#state = state;
    this.#changed(state);
  }
}

/** Null for what a newer daemon may say. */
function messageOf(text: string): AudioMessage | null {
  const message = JSON.parse(text) as AudioMessage;
  return ['waiting', 'connected', 'refused', 'replaced', 'ended'].includes(message.state) ? message : null;
}
