import { isLent, LENT_HEAD_BYTES, type LentBytes, lend } from '../base/lent-bytes.ts';

/** Step in which the memory grows, in bytes. */
const STEP_BYTES = 16 * 1024;
/** Addresses that are kept free behind the first bytes; no memory is taken for them. */
const LEAST_RESERVED_BYTES = 256 * 1024;

/**
 * Bytes that are changed in place, in memory that other threads can be lent: while one reads them, the next change is made
 * in other memory, and the two take turns. So neither a reader nor a change copies them a second time.
 */
export class BytesInPlace {
  #memory = reserved(0);
  /** What the bytes were in before the last move; for the next one, once nobody reads it. */
  #spare: SharedArrayBuffer | null = null;
  #length = 0;

  /** A view of the current bytes; later changes are visible in it. */
  get all(): LentBytes {
    return new Uint8Array(this.#memory, LENT_HEAD_BYTES, this.#length);
  }

  /** The current bytes, which do not change until the reader gives them back. */
  lend(): LentBytes {
    return lend(this.all);
  }

  /** Replaces `gone` bytes from `at` on. */
  splice(at: number, gone: number, put: Uint8Array): void {
    const [before, length] = [this.#length, this.#length - gone + put.length];
    if (isLent(this.#memory) || !this.#makeRoom(length)) {
      const { all } = this;
      this.become([all.subarray(0, at), put, all.subarray(at + gone)]);
      return;
    }
    // Who read it has let it go, and the present memory too.
    if (this.#spare !== null && !isLent(this.#spare)) this.#spare = null;
    const bytes = new Uint8Array(this.#memory, LENT_HEAD_BYTES);
    bytes.copyWithin(at + put.length, at + gone, before);
    bytes.set(put, at);
    this.#length = length;
  }

  /** Replaces the content by these parts, in order. They may be views of the current bytes. */
  become(parts: readonly Uint8Array[]): void {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const next = this.#takeSpare(length) ?? reserved(length);
    fill(new Uint8Array(next, LENT_HEAD_BYTES), parts);
    this.#spare = this.#memory;
    this.#memory = next;
    this.#length = length;
  }

  #takeSpare(length: number): SharedArrayBuffer | null {
    const spare = this.#spare;
    return spare === null || isLent(spare) || !hasRoom(spare, length) ? null : spare;
  }

  /** False where other memory serves better. */
  #makeRoom(length: number): boolean {
    const room = roomFor(length);
    if (room > this.#memory.byteLength && room <= this.#memory.maxByteLength) this.#memory.grow(room);
    return hasRoom(this.#memory, length);
  }
}

/** True unless it is too small, or more than half of it would be empty. */
function hasRoom({ byteLength }: SharedArrayBuffer, length: number): boolean {
  const room = roomFor(length);
  return room <= byteLength && byteLength <= 2 * room;
}

function reserved(length: number): SharedArrayBuffer {
  const room = roomFor(length);
  return new SharedArrayBuffer(room, { maxByteLength: Math.max(LEAST_RESERVED_BYTES, 2 * room) });
}

/** With what counts its readers. */
function roomFor(length: number): number {
  return Math.max(1, Math.ceil((LENT_HEAD_BYTES + length) / STEP_BYTES)) * STEP_BYTES;
}

function fill(bytes: Uint8Array, parts: readonly Uint8Array[]): void {
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
}
