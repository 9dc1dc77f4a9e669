import { type BigIntStats, closeSync, fstatSync, statSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { systemCode } from '../base/errors.ts';
import { openRegularFileSync, readAtSync } from './regular-file.ts';

const NEWLINE = 0x0a;
/** Number of bytes at the start of a file and just before the position by which the file is recognised. */
const HEAD_BYTES = 64;
const SEAM_BYTES = 1_024;
const SLICE_BYTES = 1024 * 1024;

/** A position in one generation of a file; plain data, so that a checkpoint can store it. */
export type ReadPosition = {
  /** Device, inode and birth time. Not enough alone: an inode number is used again soon after a rotation. */
  identity: string;
  /** Bytes consumed: everything up to the last complete line. */
  offset: number;
  /** Checksums of the bytes at the start of the file and just before the offset. */
  head: number;
  seam: number;
  /** True if the position is inside a line that is too long. */
  skipping: boolean;
};

/** Receives the lines of a file. */
export type LineSink = {
  /**
   * Takes the line that begins at `start` of `bytes` and at byte `at` of the file; returns where its newline is in
   * `bytes`, which are valid only during the call.
   */
  take(bytes: Buffer, start: number, at: number): number;
  /** A line was too long. */
  skip(): void;
};

export type LineLimits = {
  /** Bytes of the longest line that is taken. */
  longest: number;
  /** Bytes read at a time. */
  slice?: number;
};

/** Size in bytes and modification time of a file, as part of a tag; `-` for no file. */
export type FileTag = string;

/**
 * An open file to which others append lines. Bytes appended after it was opened are ignored, and a line without its
 * newline is left for the next time.
 */
export class AppendOnlyFile {
  readonly tag: FileTag;
  readonly size: number;
  readonly #fd: number;
  readonly #identity: string;

  private constructor(fd: number) {
    const stats = fstatSync(fd, { bigint: true });
    this.#fd = fd;
    this.size = Number(stats.size);
    this.tag = tagOf(stats);
    this.#identity = `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
  }

  /** Throws `not_a_file` and the system error. The caller closes it. */
  static open(path: string): AppendOnlyFile {
    const { fd } = openRegularFileSync(path);
    try {
      return new AppendOnlyFile(fd);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /** The same; null if there is no such file. */
  static openIfThere(path: string): AppendOnlyFile | null {
    try {
      return AppendOnlyFile.open(path);
    } catch (error) {
      if (isAbsent(error)) return null;
      throw error;
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  isSame(other: AppendOnlyFile): boolean {
    return this.#identity === other.#identity;
  }

  /** A position that nothing was read from yet: the start of the file, or of a line in it. */
  at(offset = 0): ReadPosition {
    return { identity: this.#identity, offset, head: 0, seam: 0, skipping: false };
  }

  /** Whether the position belongs to this file and the bytes that it remembers still match. */
  knows(position: ReadPosition): boolean {
    if (position.identity !== this.#identity || this.size < position.offset) return false;
    return this.#head(position.offset) === position.head && this.#seam(position.offset) === position.seam;
  }

  /**
   * Passes every complete line after the position to a sink, and advances the position. Yields after every slice, so that
   * the caller can let other work run, or stop.
   */
  *readLines(
    position: ReadPosition,
    { longest, slice = SLICE_BYTES }: LineLimits,
    lines: LineSink,
  ): Generator<void> {
    let read = position.offset;
    if (read >= this.size) return;
    let buffer: Buffer = Buffer.allocUnsafeSlow(Math.min(slice, Math.max(64, this.size - read)));
    let filled = 0;
    while (read < this.size) {
      if (filled === buffer.length) {
        const larger = Buffer.allocUnsafeSlow(2 * buffer.length);
        buffer.copy(larger, 0, 0, filled);
        buffer = larger;
      }
      const room = Math.min(buffer.length - filled, slice, this.size - read);
      const count = readAtSync(this.#fd, buffer.subarray(filled, filled + room), read).length;
      if (count === 0) break;
      const first = read - filled;
      read += count;
      const last = buffer.subarray(filled, filled + count).lastIndexOf(NEWLINE);
      const end = last === -1 ? 0 : filled + last + 1;
      filled += count;
      let start = 0;
      while (start < end) {
        const isLong =
          position.skipping || (end - start > longest && buffer.indexOf(NEWLINE, start) - start > longest);
        if (isLong) lines.skip();
        start = (isLong ? buffer.indexOf(NEWLINE, start) : lines.take(buffer, start, first + start)) + 1;
        position.skipping = false;
      }
      position.offset += start;
      if (position.skipping || filled - start > longest) {
        position.skipping = true;
        position.offset += filled - start;
        start = filled;
      }
      buffer.copyWithin(0, start, filled);
      filled -= start;
      if (read < this.size) yield;
    }
    position.head = this.#head(position.offset);
    position.seam = this.#seam(position.offset);
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

/** The tag of a file, without opening it. */
export function tagOfPath(path: string): FileTag {
  try {
    return tagOf(statSync(path, { bigint: true }));
  } catch (error) {
    if (isAbsent(error)) return '-';
    throw error;
  }
}

function tagOf(stats: BigIntStats): FileTag {
  return `${stats.ino.toString(36)}.${stats.mtimeNs.toString(36)}.${stats.size.toString(36)}`;
}

function isAbsent(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
