import type { Interner } from './interner.ts';

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const DEEPEST = 32;
const ESCAPED = new Set([...'"\\/bfnrt'].map((character) => character.charCodeAt(0)));

/**
 * Extracts the few fields that the index needs from a line of `events.jsonl` without creating objects. It accepts only
 * compact JSON and gives up on anything unusual, so that every line it accepts gives the same fields with `JSON.parse`.
 */
export class EventScan {
  timestamp = -1;
  /** Interner ids; 0 for null and for a missing key. */
  type = 0;
  session = 0;
  cwd = 0;
  tool = 0;
  machine = false;
  readonly #strings: Interner;
  readonly #runs = new MemberRuns();
  #bytes: Uint8Array = new Uint8Array(0);
  #words = new DataView(this.#bytes.buffer);

  constructor(strings: Interner) {
    this.#strings = strings;
  }

  /**
   * Scans the line at `start` into the fields and returns the offset of its newline; -1 if the line needs `JSON.parse`.
   * There must be a newline after `start`: no string or value extends beyond it.
   */
  take(bytes: Uint8Array, start: number): number {
    let timestamp = -1;
    let type = 0;
    let session = 0;
    let cwd = 0;
    let tool = 0;
    let machine = false;
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    const words = this.#words;
    let run = NONE;
    let runCwd = -1;
    if (bytes[start] !== 0x7b) return -1;
    let at = start + 1;
    for (;;) {
      if (bytes[at] !== QUOTE) return -1;
      const member = at;
      const known =
        run === NONE && bytes[member + 1] === FIRST_OF_SESSION ? this.#runs.find(words, member) : -1;
      if (known !== -1) {
        run = OVER;
        session = this.#runs.session(known);
        if (this.#runs.cwd(known) !== -1) cwd = this.#runs.cwd(known);
        at += this.#runs.length(known);
      } else {
        at = stringEnd(bytes, member + 1);
        if (bytes[at] !== QUOTE || bytes[at + 1] !== COLON) return -1;
        const wanted = wantedKey(bytes, member + 1, at - member - 1);
        at += 2;
        const first = bytes[at] as number;
        if (run >= 0 && (first !== QUOTE || (wanted !== OTHER && wanted !== CWD))) {
          this.#runs.keep(words, run, member - 1, session, runCwd);
          run = OVER;
        }
        if (wanted === OTHER) at = skip(bytes, words, at, 0);
        else if (wanted === TIMESTAMP) {
          const after = integerEnd(bytes, at);
          if (after === -1 || first === 0x2d) return -1;
          timestamp = 0;
          while (at < after) {
            timestamp = timestamp * 10 + (bytes[at] as number) - 0x30;
            at += 1;
          }
        } else if (wanted === MACHINE) {
          machine = first === 0x74;
          at = skip(bytes, words, at, 0);
        } else {
          let id = 0;
          if (first === QUOTE) {
            const from = at + 1;
            at = plainEnd(bytes, from);
            // An escape, or not plain ASCII: two spellings of one string can be compared only after decoding.
            if (bytes[at] !== QUOTE) return -1;
            if (at > from) id = this.#strings.addAscii(bytes, from, at);
            at += 1;
          } else if (first === 0x6e) at = literalEnd(bytes, at);
          else return -1;
          if (wanted === TYPE) type = id;
          else if (wanted === TOOL) tool = id;
          else if (wanted === CWD) {
            cwd = id;
            if (run >= 0) runCwd = id;
          } else {
            session = id;
            if (run === NONE) run = member;
          }
        }
        if (at === -1) return -1;
      }
      const next = bytes[at];
      if (next === COMMA) {
        at += 1;
        continue;
      }
      if (run >= 0) this.#runs.keep(words, run, at, session, runCwd);
      if (next !== 0x7d || bytes[at + 1] !== NEWLINE || timestamp === -1) return -1;
      this.timestamp = timestamp;
      this.type = type;
      this.session = session;
      this.cwd = cwd;
      this.tool = tool;
      this.machine = machine;
      return at + 1;
    }
  }
}

/**
 * Special values of the offset where the members begin that `MemberRuns` caches: not found yet, and no longer usable in
 * this line.
 */
const NONE = -1;
const OVER = -2;
const FIRST_OF_SESSION = 0x73;

const OTHER = 0;
const TIMESTAMP = 1;
const TYPE = 2;
const SESSION = 3;
const CWD = 4;
const TOOL = 5;
const MACHINE = 6;

/** Which field a key names. A key with an escape never gets here. */
function wantedKey(bytes: Uint8Array, key: number, length: number): number {
  switch (bytes[key]) {
    case 0x74:
      if (length === 9) return spells(bytes, key, KEY.timestamp) ? TIMESTAMP : OTHER;
      if (length !== 4) return OTHER;
      return spells(bytes, key, KEY.type) ? TYPE : spells(bytes, key, KEY.tool) ? TOOL : OTHER;
    case 0x73:
      return length === 9 && spells(bytes, key, KEY.sessionId) ? SESSION : OTHER;
    case 0x63:
      return length === 3 && spells(bytes, key, KEY.cwd) ? CWD : OTHER;
    case 0x6d:
      return length === 7 && spells(bytes, key, KEY.machine) ? MACHINE : OTHER;
    default:
      return OTHER;
  }
}

const KEY = {
  timestamp: Uint8Array.from(Buffer.from('timestamp')),
  type: Uint8Array.from(Buffer.from('type')),
  sessionId: Uint8Array.from(Buffer.from('sessionId')),
  cwd: Uint8Array.from(Buffer.from('cwd')),
  tool: Uint8Array.from(Buffer.from('tool')),
  machine: Uint8Array.from(Buffer.from('machine')),
};

function spells(bytes: Uint8Array, key: number, name: Uint8Array): boolean {
  for (let at = 1; at < name.length; at += 1) if (bytes[key + at] !== name[at]) return false;
  return true;
}

/** The offset of the next quote, backslash or control character from `at` on. */
function stringEnd(bytes: Uint8Array, at: number): number {
  let end = at;
  let byte = bytes[end] as number;
  while (byte !== QUOTE && byte !== BACKSLASH && byte >= 0x20) {
    end += 1;
    byte = bytes[end] as number;
  }
  return end;
}

/** The end of the words from `at` on that contain no quote, backslash or control character. */
function plainWordsEnd(words: DataView, at: number): number {
  const last = words.byteLength - 4;
  let end = at;
  while (end <= last) {
    const word = words.getInt32(end, true);
    const quotes = word ^ 0x22222222;
    const slashes = word ^ 0x5c5c5c5c;
    // Sets the top bit of each byte that is zero or below a space, never of a non-ASCII byte.
    const stops =
      ((word - 0x20202020) & ~word) | ((quotes - 0x01010101) & ~quotes) | ((slashes - 0x01010101) & ~slashes);
    if ((stops & 0x80808080) !== 0) break;
    end += 4;
  }
  return end;
}

/** The same, but it also stops at non-ASCII bytes. */
function plainEnd(bytes: Uint8Array, at: number): number {
  let end = at;
  let byte = bytes[end] as number;
  while (byte !== QUOTE && byte !== BACKSLASH && byte >= 0x20 && byte < 0x80) {
    end += 1;
    byte = bytes[end] as number;
  }
  return end;
}

/** The offset after the value at `at`, or -1. */
function skip(bytes: Uint8Array, words: DataView, at: number, depth: number): number {
  const first = bytes[at] as number;
  if (first === QUOTE) return skipString(bytes, words, at);
  if (first === 0x7b || first === 0x5b) return skipNested(bytes, words, at, depth);
  if (first === 0x2d || (first >= 0x30 && first <= 0x39)) return integerEnd(bytes, at);
  return literalEnd(bytes, at);
}

function skipString(bytes: Uint8Array, words: DataView, at: number): number {
  let next = at + 1;
  for (;;) {
    next = stringEnd(bytes, plainWordsEnd(words, next));
    if (bytes[next] === QUOTE) return next + 1;
    if (bytes[next] !== BACKSLASH || !ESCAPED.has(bytes[next + 1] as number)) return -1;
    next += 2;
  }
}

function skipNested(bytes: Uint8Array, words: DataView, at: number, depth: number): number {
  if (depth === DEEPEST) return -1;
  const isObject = bytes[at] === 0x7b;
  const close = isObject ? 0x7d : 0x5d;
  let next = at + 1;
  if (bytes[next] === close) return next + 1;
  for (;;) {
    if (isObject) {
      if (bytes[next] !== QUOTE) return -1;
      next = skipString(bytes, words, next);
      if (next === -1 || bytes[next] !== COLON) return -1;
      next += 1;
    }
    next = skip(bytes, words, next, depth + 1);
    if (next === -1) return -1;
    if (bytes[next] === close) return next + 1;
    if (bytes[next] !== COMMA) return -1;
    next += 1;
  }
}

/** The offset after a JSON integer of at most 15 digits; a fraction or exponent is unusual and gives -1. */
function integerEnd(bytes: Uint8Array, at: number): number {
  const start = bytes[at] === 0x2d ? at + 1 : at;
  let next = start;
  while ((bytes[next] as number) >= 0x30 && (bytes[next] as number) <= 0x39) next += 1;
  const digits = next - start;
  if (digits === 0 || digits > 15 || (digits > 1 && bytes[start] === 0x30)) return -1;
  const after = bytes[next];
  return after === 0x2e || after === 0x65 || after === 0x45 ? -1 : next;
}

function literalEnd(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first === 0x74)
    return bytes[at + 1] === 0x72 && bytes[at + 2] === 0x75 && bytes[at + 3] === 0x65 ? at + 4 : -1;
  if (first === 0x6e)
    return bytes[at + 1] === 0x75 && bytes[at + 2] === 0x6c && bytes[at + 3] === 0x6c ? at + 4 : -1;
  const isFalse =
    first === 0x66 &&
    bytes[at + 1] === 0x61 &&
    bytes[at + 2] === 0x6c &&
    bytes[at + 3] === 0x73 &&
    bytes[at + 4] === 0x65;
  return isFalse ? at + 5 : -1;
}

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
class MemberRuns {
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
