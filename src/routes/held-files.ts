import { sha256Of } from '../base/digest.ts';
import type { FileStamp } from '../contract/threads/pool.ts';
import type { Content } from '../http/reply.ts';
import type { Files } from './callers.ts';

/** Files of up to this many bytes are asked for again and again: pictures, notes, short transcripts. */
const MOST_FILE_BYTES = 64 * 1024;
const MOST_HELD_BYTES = 16 * 1024 * 1024;

/**
 * The bytes of short files by their digest, so that a file which is asked for again is not opened again. Bytes are held
 * only when they have the very digest, whatever was written to the file meanwhile.
 */
export class HeldFiles {
  readonly #files: Pick<Files, 'read'>;
  readonly #held = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(files: Pick<Files, 'read'>) {
    this.#files = files;
  }

  /** The content of a file as it was stamped, however much it grows meanwhile. */
  content(path: string, stamp: FileStamp, sha256: string): Content {
    const { size } = stamp;
    return {
      size,
      held: () => this.#held.get(sha256) ?? null,
      read: (from, end) =>
        from === 0 && end === size && size <= MOST_FILE_BYTES
          ? this.#readAndHold(path, stamp, sha256)
          : this.#files.read(path, stamp, from, end),
    };
  }

  async *#readAndHold(path: string, stamp: FileStamp, sha256: string): AsyncGenerator<Uint8Array> {
    const bytes = new Uint8Array(stamp.size);
    let read = 0;
    for await (const piece of this.#files.read(path, stamp, 0, stamp.size)) {
      bytes.set(piece, read);
      read += piece.length;
      // Who has all that was promised asks for no more, so that nothing would run after the last piece.
      if (read === stamp.size && sha256Of(bytes) === sha256) this.#hold(sha256, bytes);
      yield piece;
    }
  }

  #hold(sha256: string, bytes: Uint8Array): void {
    if (this.#held.has(sha256)) return;
    for (const [oldest, { length }] of this.#held) {
      if (this.#bytes + bytes.length <= MOST_HELD_BYTES) break;
      this.#held.delete(oldest);
      this.#bytes -= length;
    }
    this.#held.set(sha256, bytes);
    this.#bytes += bytes.length;
  }
}
