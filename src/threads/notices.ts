import { CodedError } from '../base/errors.ts';

/** Notices that the other side has not heard yet. */
const MAX_UNHEARD = 256;
const UNHEARD_BYTES = 4 * 1024 * 1024;
/** The bulk bytes of one notice: a quarter, so that one of any size fits once the other side has caught up. */
const NOTICE_BYTES = 1024 * 1024;

export type Notice = { name: string; payload: unknown; bulk: Uint8Array | null };

/**
 * What becomes of a notice for a side that is too far behind. `refuse`: `send` answers false, and nothing is sent.
 * `keep_latest`: the last notice of each name waits and goes out later, for notices that say how things are now.
 */
export type WhenBehind = 'refuse' | 'keep_latest';

/** The notices of one side that the other has not heard yet, within a bound. */
export class OutgoingNotices {
  readonly #post: (notice: Notice) => void;
  readonly #when_behind: WhenBehind;
  readonly #waiting = new Map<string, Notice>();
  #unheard = 0;
  #bytes = 0;

  constructor(post: (notice: Notice) => void, when_behind: WhenBehind) {
    this.#post = post;
    this.#when_behind = when_behind;
  }

  /** False when it was refused; its bytes are the caller's then, else they are given away. */
  send(notice: Notice): boolean {
    const size = notice.bulk?.byteLength ?? 0;
    if (size > NOTICE_BYTES)
      throw new CodedError(
        'internal',
        `The notice ${notice.name} carries ${size} bytes; at most ${NOTICE_BYTES} fit`,
      );
    if (!this.#hasRoom(size)) {
      if (this.#when_behind === 'refuse') return false;
      this.#waiting.set(notice.name, notice);
      return true;
    }
    this.#send(notice, size);
    return true;
  }

  /** The other side has heard so many more. */
  heard(notices: number, bytes: number): void {
    this.#unheard -= notices;
    this.#bytes -= bytes;
    for (const notice of this.#waiting.values()) {
      const size = notice.bulk?.byteLength ?? 0;
      if (!this.#hasRoom(size)) return;
      this.#send(notice, size);
    }
  }

  /** Sends what waits although the bound is reached: an answer must not overtake the notices from before it. */
  flush(): void {
    for (const notice of this.#waiting.values()) this.#send(notice, notice.bulk?.byteLength ?? 0);
  }

  #hasRoom(size: number): boolean {
    return this.#unheard < MAX_UNHEARD && this.#bytes + size <= UNHEARD_BYTES;
  }

  #send(notice: Notice, size: number): void {
    this.#waiting.delete(notice.name);
    this.#post(notice);
    this.#unheard += 1;
    this.#bytes += size;
  }
}

/** Counts the notices that were heard, and tells the other side now and then. */
export class IncomingNotices {
  readonly #tell: (notices: number, bytes: number) => void;
  #notices = 0;
  #bytes = 0;

  constructor(tell: (notices: number, bytes: number) => void) {
    this.#tell = tell;
  }

  heard(bytes: number): void {
    this.#notices += 1;
    this.#bytes += bytes;
    if (this.#notices < MAX_UNHEARD / 4 && this.#bytes < NOTICE_BYTES) return;
    this.#tell(this.#notices, this.#bytes);
    this.#notices = 0;
    this.#bytes = 0;
  }
}
