import { type BigIntStats, closeSync, statSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { systemCode } from '../base/errors.ts';
import { openRegularFileSync, readAtSync } from '../platform/regular-file.ts';

const NEWLINE = 0x0a;
/** Bytes at the start of a file, and just before the place, by which the file is known again. */
const HEAD_BYTES = 64;
const SEAM_BYTES = 1_024;
/** What is read between two turns of the event loop. */
const SLICE_BYTES = 1024 * 1024;

/** A place in one generation of a file; plain data, so that a checkpoint can keep it. */
export type Place = {
  /** Device, file number and time of birth. */
  identity: string;
  /** Bytes consumed: everything up to the last complete line. */
  offset: number;
  head: number;
  seam: number;
  /** The place is inside a line that is too long to be held. */
  skipping: boolean;
};

/** Size in bytes and time of the last change of a file, as a tag tells them; `-` for no file. */
export type Stamp = string;

/** An open file as it was at one moment; what is added later is not looked at. */
export class LedgerFile {
  readonly stamp: Stamp;
  readonly size: number;
  readonly #fd: number;
  readonly #identity: string;

  private constructor(fd: number, stats: BigIntStats) {
    this.#fd = fd;
    this.size = Number(stats.size);
    this.stamp = stampOf(stats);
    this.#identity = `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
  }

  /** Null when there is no such file; throws `not_a_file` and any other system error. */
  static open(path: string): LedgerFile | null {
    try {
      const { fd, stats } = openRegularFileSync(path);
      return new LedgerFile(fd, stats);
    } catch (error) {
      if (isAbsent(error)) return null;
      throw error;
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  isSame(other: LedgerFile): boolean {
    return this.#identity === other.#identity;
  }

  /** The place before the first byte. */
  begin(): Place {
    return { identity: this.#identity, offset: 0, head: 0, seam: 0, skipping: false };
  }

  /** Is the place in this very file, and everything before it as far as it is known by its marks? */
  knows(place: Place): boolean {
    if (place.identity !== this.#identity || this.size < place.offset) return false;
    return this.#head(place.offset) === place.head && this.#seam(place.offset) === place.seam;
  }

  /**
   * Gives every complete line from the place on and moves the place. `take` is given the bytes and where a line
   * begins, and answers where its newline is; the bytes are valid during the call only. A line of more than
   * `longest` bytes is told by `skip`. Other work gets its turn after every slice.
   */
  async readLines(
    place: Place,
    longest: number,
    lines: { take(bytes: Buffer, start: number): number; skip(): void },
  ): Promise<void> {
    let buffer: Buffer = Buffer.allocUnsafeSlow(
      Math.min(SLICE_BYTES, Math.max(64, this.size - place.offset)),
    );
    let filled = 0;
    let position = place.offset;
    while (position < this.size) {
      if (filled === buffer.length) {
        const larger = Buffer.allocUnsafeSlow(2 * buffer.length);
        buffer.copy(larger, 0, 0, filled);
        buffer = larger;
      }
      const room = Math.min(buffer.length - filled, SLICE_BYTES, this.size - position);
      const count = readAtSync(this.#fd, buffer.subarray(filled, filled + room), position).length;
      if (count === 0) break;
      position += count;
      const added = buffer.subarray(filled, filled + count);
      const last = added.lastIndexOf(NEWLINE);
      const end = last === -1 ? 0 : filled + last + 1;
      filled += count;
      let start = 0;
      while (start < end) {
        const isLong =
          place.skipping || (end - start > longest && buffer.indexOf(NEWLINE, start) - start > longest);
        if (isLong) lines.skip();
        start = (isLong ? buffer.indexOf(NEWLINE, start) : lines.take(buffer, start)) + 1;
        place.skipping = false;
      }
      place.offset += start;
      if (place.skipping || filled - start > longest) {
        place.skipping = true;
        place.offset += filled - start;
        start = filled;
      }
      buffer.copyWithin(0, start, filled);
      filled -= start;
      if (position < this.size) await turn();
    }
    place.head = this.#head(place.offset);
    place.seam = this.#seam(place.offset);
  }

  #head(offset: number): number {
    return this.#checksum(0, Math.min(HEAD_BYTES, offset));
  }

  #seam(offset: number): number {
    return this.#checksum(Math.max(0, offset - SEAM_BYTES), offset);
  }

  #checksum(from: number, to: number): number {
    return crc32(readAtSync(this.#fd, Buffer.alloc(to - from), from));
  }
}

/** Size and time of change of a file as of now, without opening it. */
export function stampOfPath(path: string): Stamp {
  try {
    return stampOf(statSync(path, { bigint: true }));
  } catch (error) {
    if (isAbsent(error)) return '-';
    throw error;
  }
}

function stampOf(stats: BigIntStats): Stamp {
  return `${stats.ino.toString(36)}.${stats.mtimeNs.toString(36)}.${stats.size.toString(36)}`;
}

function isAbsent(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
