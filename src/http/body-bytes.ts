import { freeBytes } from '../base/free-bytes.ts';

/** Bytes that must have arrived before memory for the announced length is allocated. */
const PROOF_BYTES = 256 * 1024;

/**
 * A body as it comes, gathered over a buffer of its own, never one that is shared with others: bodies are handed to
 * threads. Where its length is known a long one is filled in place, for joining its pieces at the end would be one
 * turn of many milliseconds, and each piece kept meanwhile one more reason for the engine to collect garbage.
 */
export class BodyBytes {
  /** Bytes received so far. */
  size = 0;
  #length: number | null;
  #pieces: Uint8Array[] = [];
  #whole: Uint8Array | null = null;

  /** `length`: what was announced; null where nothing was. */
  constructor(length: number | null) {
    this.#length = length;
  }

  /** Copies a piece, which is only lent. */
  add(piece: Uint8Array): void {
    if (piece.length === 0) return;
    const from = this.size;
    this.size += piece.length;
    if (this.#whole !== null) this.#whole.set(piece, from);
    else if (this.#length !== null && this.#length > PROOF_BYTES && this.size > PROOF_BYTES) {
      this.#whole = copied([...this.#pieces, piece], this.#length);
      this.#pieces = [];
    } else this.#pieces.push(new Uint8Array(piece));
  }

  /** Releases the memory at once. */
  discard(): void {
    for (const bytes of this.#whole === null ? this.#pieces : [this.#whole]) freeBytes(bytes);
    this.#pieces = [];
    this.#whole = null;
  }

  /** Everything so far. */
  take(): Uint8Array {
    const whole =
      this.#whole ?? (this.#pieces.length === 1 ? this.#pieces[0]! : copied(this.#pieces, this.size));
    return whole.length === this.size ? whole : whole.slice(0, this.size);
  }
}

/** The pieces at the beginning of a buffer of `length` bytes, of which the rest is not even cleared. */
function copied(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
