import { type BigIntStats, closeSync, statSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { systemCode } from '../base/errors.ts';
import { openRegularFileSync, readAtSync } from '../platform/regular-file.ts';

const NEWLINE = 0x0a;
/** Number of bytes at the start of a file and just before the position by which the file is recognised. */
const HEAD_BYTES = 64;
const SEAM_BYTES = 1_024;
/** Number of bytes read before the event loop gets a turn. */
const SLICE_BYTES = 1024 * 1024;

/** A position in one generation of a file; plain data, so that a checkpoint can store it. */
export type Place = {
  /** Device, inode and birth time. */
  identity: string;
  /** Bytes consumed: everything up to the last complete line. */
  offset: number;
  head: number;
  seam: number;
  /** True if the position is inside a line that is too long. */
  skipping: boolean;
};

/** Size in bytes and modification time of a file, as part of a tag; `-` for no file. */
export type Stamp = string;

/** A snapshot of an open file; bytes appended later are ignored. */
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

  /** Null if there is no such file; throws `not_a_file` and any other system error. */
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

  /** The position before the first byte. */
  begin(): Place {
    return { identity: this.#identity, offset: 0, head: 0, seam: 0, skipping: false };
  }

  /** Whether the position belongs to this file and the bytes that it remembers still match. */
  knows(place: Place): boolean {
    if (place.identity !== this.#identity || this.size < place.offset) return false;
    return this.#head(place.offset) === place.head && this.#seam(place.offset) === place.seam;
  }

  /**
   * Passes every complete line after the position to `take` and advances the position. `take` gets the bytes and the
   * offset of a line and returns the offset of its newline; the bytes are valid only during the call. For a line longer
   * than `longest` bytes `skip` is called. Yields to the event loop after every slice.
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

/** Current size and modification time of a file, without opening it. */
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
