/** Step in which the memory grows and shrinks, in bytes. */
const STEP_BYTES = 16 * 1024;
/** Addresses that are kept free behind the first bytes; no memory is taken for them. */
const LEAST_RESERVED_BYTES = 256 * 1024;

/**
 * Bytes that are changed in place. Their memory comes from the system in pages and goes back to it at once, so that neither
 * the garbage collector nor `malloc` keeps any of it.
 */
export class BytesInPlace {
  #memory = new ArrayBuffer(0, { maxByteLength: LEAST_RESERVED_BYTES });
  #length = 0;

  /** A view of the current bytes; later changes are visible in it. */
  get all(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#memory, 0, this.#length);
  }

  /** Replaces `gone` bytes from `at` on. */
  splice(at: number, gone: number, put: Uint8Array): void {
    const before = this.#length;
    const length = before - gone + put.length;
    if (length > this.#memory.byteLength) this.#makeRoom(length);
    const bytes = new Uint8Array(this.#memory);
    bytes.copyWithin(at + put.length, at + gone, before);
    bytes.set(put, at);
    this.#length = length;
    if (this.#memory.byteLength - length > 2 * STEP_BYTES) this.#memory.resize(roomFor(length));
  }

  /**
   * Replaces the content by these parts, in order. They may be views of the current bytes, and are empty afterwards.
   */
  become(parts: readonly Uint8Array[]): void {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const before = this.#memory;
    this.#memory = reserved(length);
    fill(new Uint8Array(this.#memory), parts);
    this.#length = length;
    before.resize(0);
  }

  #makeRoom(length: number): void {
    if (roomFor(length) <= this.#memory.maxByteLength) this.#memory.resize(roomFor(length));
    else this.become([this.all, new Uint8Array(length - this.#length)]);
  }
}

function reserved(length: number): ArrayBuffer {
  const room = roomFor(length);
  return new ArrayBuffer(room, { maxByteLength: Math.max(LEAST_RESERVED_BYTES, 2 * room) });
}

function roomFor(length: number): number {
  return Math.ceil(length / STEP_BYTES) * STEP_BYTES;
}

/** Bytes one after the other in memory of their own: in pages of the system, which has them back once it is transferred to nothing. */
export function inOwnMemory(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = new Uint8Array(new ArrayBuffer(length, { maxByteLength: length }), 0, length);
  fill(bytes, parts);
  return bytes;
}

function fill(bytes: Uint8Array, parts: readonly Uint8Array[]): void {
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
}
