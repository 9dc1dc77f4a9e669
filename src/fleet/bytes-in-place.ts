import { changeUnread, LENT_HEAD_BYTES, type LentBytes, lend } from '../base/lent-bytes.ts';

/** Step in which the memory grows, in bytes. */
const STEP_BYTES = 16 * 1024;
/** Addresses that are kept free behind the first bytes; no memory is taken for them. */
const LEAST_RESERVED_BYTES = 256 * 1024;
/** Memory without content that is kept for the next move, in bytes; the last one in any case. */
const MOST_SPARE_BYTES = 4 * 1024 * 1024;

/**
 * Bytes that are changed in place, in memory that other threads can be lent: a change while one reads them is made in other
 * memory, and the first is spare once it is given back. So neither a reader nor a change copies them a second time.
 */
export class BytesInPlace {
  readonly #spares: SpareMemories;
  #memory = reserved(0);
  #length = 0;

  constructor(spares: SpareMemories) {
    this.#spares = spares;
  }

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
    const inPlace = () => {
      const bytes = new Uint8Array(this.#memory, LENT_HEAD_BYTES);
      bytes.copyWithin(at + put.length, at + gone, before);
      bytes.set(put, at);
    };
    if (this.#makeRoom(length) && changeUnread(this.#memory, inPlace)) {
      this.#length = length;
      return;
    }
    const { all } = this;
    this.become([all.subarray(0, at), put, all.subarray(at + gone)]);
  }

  /** Replaces the content by these parts, in order. They may be views of the current bytes. */
  become(parts: readonly Uint8Array[]): void {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const write = (memory: SharedArrayBuffer) => fill(new Uint8Array(memory, LENT_HEAD_BYTES), parts);
    let next = this.#spares.change(length, write);
    if (next === null) {
      next = reserved(length);
      write(next);
    }
    this.#spares.put(this.#memory);
    this.#memory = next;
    this.#length = length;
  }

  /** False where other memory serves better. */
  #makeRoom(length: number): boolean {
    const room = roomFor(length);
    if (room > this.#memory.byteLength && room <= this.#memory.maxByteLength) this.#memory.grow(room);
    return hasRoom(this.#memory, length);
  }
}

/** Memory that has no content any more, for whatever moves next: the engine would free it late. */
export class SpareMemories {
  /** The oldest first. */
  #all: SharedArrayBuffer[] = [];

  /** Takes memory, which readers may not have given back yet. */
  put(memory: SharedArrayBuffer): void {
    this.#all.push(memory);
    let bytes = this.#all.reduce((sum, { byteLength }) => sum + byteLength, 0);
    while (bytes > MOST_SPARE_BYTES && this.#all.length > 1) bytes -= this.#all.shift()!.byteLength;
  }

  /** Changes memory that has room and that nobody reads, and lets go of it; null where there is none. */
  change(length: number, change: (memory: SharedArrayBuffer) => void): SharedArrayBuffer | null {
    const found = this.#all.find(
      (memory) => hasRoom(memory, length) && changeUnread(memory, () => change(memory)),
    );
    if (found === undefined) return null;
    this.#all = this.#all.filter((memory) => memory !== found);
    return found;
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
