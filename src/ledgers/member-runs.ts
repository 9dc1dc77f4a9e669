/** Number of cache slots for runs; a power of two. */
const SLOTS = 512;
/** Longest run that is cached, in bytes. */
const LONGEST = 512;
/** Bytes from the start of a run that choose its slot: they contain the session id, the first member. */
const TELLING = 49;

/**
 * Caches parsed runs of members. The members from `sessionId` on are usually the same bytes as in an earlier line of
 * that session, and comparing bytes is much cheaper than parsing. A run that is not in the cache is parsed.
 */
export class MemberRuns {
  readonly #bytes = new Uint8Array(SLOTS * LONGEST);
  readonly #kept = new DataView(this.#bytes.buffer);
  readonly #lengths = new Int32Array(SLOTS);
  readonly #sessions = new Int32Array(SLOTS);
  readonly #cwds = new Int32Array(SLOTS);

  /** The slot whose run is at offset `at` of the bytes; -1 for none. Anything may follow the run. */
  find(bytes: DataView, at: number): number {
    if (at + LONGEST > bytes.byteLength) return -1;
    const slot = slotOf(bytes, at);
    const length = this.#lengths[slot] as number;
    if (length === 0) return -1;
    const from = slot * LONGEST;
    // Compares eight bytes at a time as doubles. Equal doubles have equal bytes, since a cached run contains no zero
    // byte (so no -0), and NaN never equals anything, so a false match is impossible.
    for (let word = 0; word < length - 7; word += 8)
      if (bytes.getFloat64(at + word, true) !== this.#kept.getFloat64(from + word, true)) return -1;
    // Compares the last eight bytes again, to cover a remainder shorter than a word.
    const last = length - 8;
    return bytes.getFloat64(at + last, true) === this.#kept.getFloat64(from + last, true) ? slot : -1;
  }

  length(slot: number): number {
    return this.#lengths[slot] as number;
  }

  session(slot: number): number {
    return this.#sessions[slot] as number;
  }

  /** The folder in the run; -1 if it has none. */
  cwd(slot: number): number {
    return this.#cwds[slot] as number;
  }

  /** Caches the run `[start, end)` of the bytes if it is short enough. */
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
  // Uses the end and the start of the UUID, to spread both sequential and random ids.
  const mixed =
    Math.imul(bytes.getInt32(at + TELLING - 4), 0x9e3779b1) ^
    Math.imul(bytes.getInt32(at + TELLING - 8), 0x85ebca6b) ^
    Math.imul(bytes.getInt32(at + 16), 0xc2b2ae35);
  return (mixed >>> 20) & (SLOTS - 1);
}
