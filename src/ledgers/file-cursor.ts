import { type BigIntStats, closeSync } from 'node:fs';
import { systemCode } from '../base/errors.ts';
import { type OpenFile, openRegularFileSync, readAtSync } from '../platform/regular-file.ts';

const NEWLINE = 0x0a;
/** Number of bytes remembered from the start of a file and from just before the offset, to recognise the file. */
const MARK_BYTES = 64;
const CHUNK_BYTES = 256 * 1024;

export type CursorOptions = {
  /** A longer line is skipped and reported as `null`. */
  max_line_bytes: number;
};

/**
 * `other`: the path now names a different file than the cursor's (replaced, rotated, truncated or rewritten); nothing
 * was read.
 */
export type CursorRead = 'absent' | 'other' | 'read';

/**
 * A position in one generation of an append-only file. Inode numbers are reused soon after a rotation, so a generation
 * is identified by inode, birth time, its first bytes, and the bytes just before the position.
 */
export class FileCursor {
  readonly #options: CursorOptions;
  #identity: string | null = null;
  #head: Buffer = Buffer.alloc(0);
  #seam: Buffer = Buffer.alloc(0);
  #offset = 0;
  #skipping = false;

  constructor(options: CursorOptions) {
    this.#options = options;
  }

  /** Bytes consumed: everything up to the last complete line. */
  get offset(): number {
    return this.#offset;
  }

  /**
   * Returns every line completed since the last read; `null` for one that is too long. Throws `not_a_file` and the
   * system error.
   */
  read(path: string, give: (line: string | null) => void): CursorRead {
    let file: OpenFile;
    try {
      file = openRegularFileSync(path);
    } catch (error) {
      if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return 'absent';
      throw error;
    }
    const { fd, stats } = file;
    try {
      if (!this.#knows(fd, stats)) return 'other';
      this.#consume(fd, Number(stats.size), give);
      return 'read';
    } finally {
      closeSync(fd);
    }
  }

  #knows(fd: number, stats: BigIntStats): boolean {
    const identity = `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
    if (this.#identity === null) this.#identity = identity;
    if (this.#identity !== identity || Number(stats.size) < this.#offset) return false;
    return (
      readAt(fd, 0, this.#head.length).equals(this.#head) &&
      readAt(fd, this.#offset - this.#seam.length, this.#seam.length).equals(this.#seam)
    );
  }

  #consume(fd: number, size: number, give: (line: string | null) => void): void {
    let carry = Buffer.alloc(0);
    let position = this.#offset;
    while (position < size) {
      const chunk = readAt(fd, position, Math.min(CHUNK_BYTES, size - position));
      if (chunk.length === 0) break;
      position += chunk.length;
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        const length = carry.length + end - start;
        if (this.#skipping || length > this.#options.max_line_bytes) give(null);
        else give(Buffer.concat([carry, chunk.subarray(start, end)]).toString('utf8'));
        this.#skipping = false;
        carry = Buffer.alloc(0);
        start = end + 1;
        this.#offset = position - chunk.length + start;
      }
      if (this.#skipping) this.#offset = position;
      else {
        carry = Buffer.concat([carry, chunk.subarray(start)]);
        if (carry.length > this.#options.max_line_bytes) {
          this.#skipping = true;
          carry = Buffer.alloc(0);
          this.#offset = position;
        }
      }
    }
    this.#head = readAt(fd, 0, Math.min(MARK_BYTES, this.#offset));
    const seam = Math.min(MARK_BYTES, this.#offset);
    this.#seam = readAt(fd, this.#offset - seam, seam);
  }
}

function readAt(fd: number, position: number, length: number): Buffer {
  return readAtSync(fd, Buffer.alloc(length), position);
}
