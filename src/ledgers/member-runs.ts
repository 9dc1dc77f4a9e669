/** Places for runs; a power of two. */
const SLOTS = 512;
/** Bytes of the longest run that is kept. */
const LONGEST = 512;
/** Bytes from the start of a run by which its place is chosen: the session id, which comes first, lies there. */
const TELLING = 49;

/**
 * Remembers what stretches of a line meant: the members from `sessionId` on are, byte by byte, those of an earlier
 * line of that session, and comparing them costs a fraction of reading them. A run that is forgotten is only read.
 */
export class MemberRuns {
  readonly #bytes = new Uint8Array(SLOTS * LONGEST);
  readonly #kept = new DataView(this.#bytes.buffer);
  readonly #lengths = new Int32Array(SLOTS);
  readonly #sessions = new Int32Array(SLOTS);
  readonly #cwds = new Int32Array(SLOTS);

  /** The place whose run stands at `at` of the bytes; -1 for none. Anything may follow it. */
  find(bytes: DataView, at: number): number {
    if (at + LONGEST > bytes.byteLength) return -1;
    const slot = slotOf(bytes, at);
    const length = this.#lengths[slot] as number;
    if (length === 0) return -1;
    const from = slot * LONGEST;
    // Eight bytes at a time; as numbers two of them are equal just when their bytes are, since a run that is kept
    // has no byte of a zero in it, and what is no number is equal to nothing.
    for (let word = 0; word < length - 7; word += 8)
      if (bytes.getFloat64(at + word, true) !== this.#kept.getFloat64(from + word, true)) return -1;
    // The last eight again, for those that fill no word.
    const last = length - 8;
    return bytes.getFloat64(at + last, true) === this.#kept.getFloat64(from + last, true) ? slot : -1;
  }

  length(slot: number): number {
    return this.#lengths[slot] as number;
  }

  session(slot: number): number {
    return this.#sessions[slot] as number;
  }

  /** The folder that the run names; -1 when it names none. */
  cwd(slot: number): number {
    return this.#cwds[slot] as number;
  }

  /** Keeps the run `[start, end)` of the bytes where it fits. */
  keep(bytes: DataView, start: number, end: number, session: number, cwd: number): void {
    const length = end - start;
    if (length < TELLING || length > LONGEST || start + LONGEST > bytes.byteLength) return;
    const slot = slotOf(bytes, start);
    const run = new Uint8Array(bytes.buffer, bytes.byteOffset + start, length);
    this.#bytes.set(run, slot * LONGEST);
    this.#lengths[slot] = length;
    this.#sessions[slot] = session;
    this.#cwds[slot] = cwd;
  }
}

function slotOf(bytes: DataView, at: number): number {
  // The end and the start of a UUID, for those that count upwards and those that are drawn.
  const mixed =
    Math.imul(bytes.getInt32(at + TELLING - 4), 0x9e3779b1) ^
    Math.imul(bytes.getInt32(at + TELLING - 8), 0x85ebca6b) ^
    Math.imul(bytes.getInt32(at + 16), 0xc2b2ae35);
  return (mixed >>> 20) & (SLOTS - 1);
}
