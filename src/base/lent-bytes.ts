/**
 * Memory that its owner lends to other threads begins with so many bytes, two numbers: how many read it, and how often it
 * has changed.
 */
export const LENT_HEAD_BYTES = 8;
const READERS = 0;
const CHANGES = 1;
/** What the number of readers lacks while the owner changes the memory. */
const CHANGING = 2 ** 30;

/** Bytes that another thread reads where they are. */
export type LentBytes = Uint8Array<SharedArrayBuffer>;

/** Counts one more reader of the memory of these bytes, which makes a `Loan` of them. */
export function lend(bytes: LentBytes): LentBytes {
  Atomics.add(headOf(bytes.buffer), READERS, 1);
  return bytes;
}

/** Lets the owner change the memory; false where somebody reads it, and then nothing is changed. */
export function changeUnread(memory: SharedArrayBuffer, change: () => void): boolean {
  const head = headOf(memory);
  if (Atomics.compareExchange(head, READERS, 0, -CHANGING) !== 0) return false;
  Atomics.add(head, CHANGES, 1);
  try {
    change();
  } finally {
    Atomics.add(head, READERS, CHANGING);
  }
  return true;
}

/** Bytes that were lent to this thread. It holds them from the beginning, and while it does they stay as they are. */
export class Loan {
  readonly bytes: LentBytes;
  readonly #head: Int32Array;
  readonly #changes: number;
  #isHeld = true;

  constructor(bytes: LentBytes) {
    this.bytes = bytes;
    this.#head = headOf(bytes.buffer);
    this.#changes = Atomics.load(this.#head, CHANGES);
  }

  /** Holds the bytes, if they are not held already; false where their owner has changed them since they were given back. */
  hold(): boolean {
    if (this.#isHeld) return true;
    const changing = Atomics.add(this.#head, READERS, 1) < 0;
    if (changing || Atomics.load(this.#head, CHANGES) !== this.#changes) {
      Atomics.sub(this.#head, READERS, 1);
      return false;
    }
    this.#isHeld = true;
    return true;
  }

  /** Takes over that the owner has lent the same bytes, unchanged, once more. */
  again(): void {
    if (this.#isHeld) Atomics.sub(this.#head, READERS, 1);
    this.#isHeld = true;
  }

  /** The owner may change the bytes from now on. */
  giveBack(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    Atomics.sub(this.#head, READERS, 1);
  }
}

function headOf(memory: SharedArrayBuffer): Int32Array {
  return new Int32Array(memory, 0, 2);
}
