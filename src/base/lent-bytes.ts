/** Memory that its owner lends to other threads begins with so many bytes, which count who reads it. */
export const LENT_HEAD_BYTES = 8;

/** Bytes that another thread reads where they are. */
export type LentBytes = Uint8Array<SharedArrayBuffer>;

/** Counts one more reader of the memory of these bytes, until `giveBack`. Its owner leaves it as it is for so long. */
export function lend(bytes: LentBytes): LentBytes {
  Atomics.add(readersOf(bytes.buffer), 0, 1);
  return bytes;
}

/** A reader no longer needs these bytes; each calls this once, and has no use of them afterwards. */
export function giveBack(bytes: LentBytes): void {
  Atomics.sub(readersOf(bytes.buffer), 0, 1);
}

export function isLent(memory: SharedArrayBuffer): boolean {
  return Atomics.load(readersOf(memory), 0) > 0;
}

function readersOf(memory: SharedArrayBuffer): Int32Array {
  return new Int32Array(memory, 0, 1);
}
