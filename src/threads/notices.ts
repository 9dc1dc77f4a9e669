import { CodedError } from '../base/errors.ts';

/** Limit of notices that the other side has not acknowledged. */
const MAX_UNHEARD = 256;
const UNHEARD_BYTES = 4 * 1024 * 1024;
/**
 * Limit of the bulk bytes of one notice: a quarter of the total, so that a notice of any size fits once the other side
 * has caught up.
 */
const NOTICE_BYTES = 1024 * 1024;

export type Notice = { name: string; payload: unknown; bulk: Uint8Array | null };

/**
 * Back-pressure: what happens to a notice if the other side is too far behind. `refuse`: `send` returns false and
 * nothing is sent. `keep_latest`: the last notice of each name is queued and sent later, for notices about the current
 * state.
 */
export type WhenBehind = 'refuse' | 'keep_latest';

/** The unacknowledged notices of one side, up to a limit. */
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

  /** False if it was refused, and its bytes still belong to the caller; otherwise they are transferred. */
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

  /** The other side has acknowledged this many more. */
  heard(notices: number, bytes: number): void {
    this.#unheard -= notices;
    this.#bytes -= bytes;
    for (const notice of this.#waiting.values()) {
      const size = notice.bulk?.byteLength ?? 0;
      if (!this.#hasRoom(size)) return;
      this.#send(notice, size);
    }
  }

  /** Sends queued notices even beyond the limit: an answer must not overtake earlier notices. */
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

/** Counts received notices and acknowledges them in batches. */
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
