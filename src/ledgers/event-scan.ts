import { HASH_SEED, hashStep, type Interner } from './interner.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const DEEPEST = 32;
/** 1 for every byte that ends the quick walk through a string: quote, backslash, control characters. */
const STOPS = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === QUOTE || byte === BACKSLASH || byte < 0x20 ? 1 : 0,
);
const ESCAPED = new Set([...'"\\/bfnrt'].map((character) => character.charCodeAt(0)));
const WANTED = ['timestamp', 'type', 'sessionId', 'cwd', 'machine', 'tool'] as const;
const KEYS = WANTED.map((name) => Buffer.from(name));

/**
 * Takes the few fields that the index needs out of a line of `events.jsonl` without making objects of it. It reads
 * compact JSON strictly and gives up on everything unusual, so that whatever it takes, `JSON.parse` takes too and
 * finds the same.
 */
export class EventScan {
  timestamp = -1;
  /** Ids of the interner; 0 for null and for a key that is not there. */
  type = 0;
  session = 0;
  cwd = 0;
  tool = 0;
  machine = false;
  readonly #strings: Interner;
  #bytes: Uint8Array = new Uint8Array(0);

  constructor(strings: Interner) {
    this.#strings = strings;
  }

  /** True when the fields hold the line `bytes[start, end)`; false when only `JSON.parse` can tell. */
  take(bytes: Uint8Array, start: number, end: number): boolean {
    this.#bytes = bytes;
    this.timestamp = -1;
    this.type = this.session = this.cwd = this.tool = 0;
    this.machine = false;
    if (bytes[start] !== 0x7b || bytes[end - 1] !== 0x7d) return false;
    let at = start + 1;
    for (;;) {
      if (bytes[at] !== QUOTE) return false;
      const key = at + 1;
      at = key;
      while (STOPS[bytes[at] as number] === 0) at += 1;
      if (bytes[at] !== QUOTE || bytes[at + 1] !== 0x3a) return false;
      at = this.#member(key, at - key, at + 2);
      if (at === -1) return false;
      const next = bytes[at];
      if (next === 0x7d) return at === end - 1;
      if (next !== 0x2c) return false;
      at += 1;
    }
  }

  /** Reads the value at `at` of the key; answers the place after it, or -1. */
  #member(key: number, length: number, at: number): number {
    switch (this.#wanted(key, length)) {
      case 0: {
        const after = this.#integer(at);
        if (after !== -1) this.timestamp = decimal(this.#bytes, at, after);
        return this.timestamp < 0 ? -1 : after;
      }
      case 1:
        return this.#string(at, 1);
      case 2:
        return this.#string(at, 2);
      case 3:
        return this.#string(at, 3);
      case 4: {
        const after = this.#skip(at, 0);
        this.machine = this.#bytes[at] === 0x74;
        return after;
      }
      case 5:
        return this.#string(at, 5);
      default:
        return this.#skip(at, 0);
    }
  }

  #wanted(key: number, length: number): number {
    const bytes = this.#bytes;
    switch (length) {
      case 3:
        return bytes[key] === 0x63 && this.#is(3, key) ? 3 : -1;
      case 4:
        if (bytes[key] !== 0x74) return -1;
        return this.#is(1, key) ? 1 : this.#is(5, key) ? 5 : -1;
      case 7:
        return bytes[key] === 0x6d && this.#is(4, key) ? 4 : -1;
      case 9:
        if (bytes[key] === 0x74) return this.#is(0, key) ? 0 : -1;
        return bytes[key] === 0x73 && this.#is(2, key) ? 2 : -1;
      default:
        // A key that is written with non-ASCII bytes or escapes is none of ours; escapes were refused above.
        return -1;
    }
  }

  #is(wanted: number, key: number): boolean {
    const name = KEYS[wanted] as Buffer;
    for (let at = 0; at < name.length; at += 1) if (this.#bytes[key + at] !== name[at]) return false;
    return true;
  }

  /** A string without escapes, or null, kept in the field. */
  #string(at: number, field: 1 | 2 | 3 | 5): number {
    const bytes = this.#bytes;
    let id = 0;
    let after: number;
    if (bytes[at] === QUOTE) {
      const start = at + 1;
      let hash = HASH_SEED;
      let high = 0;
      let end = start;
      for (let byte = bytes[end] as number; STOPS[byte] === 0; byte = bytes[end] as number) {
        hash = hashStep(hash, byte);
        high |= byte;
        end += 1;
      }
      // Not plain ASCII: only decoding tells whether two spellings are one string.
      if (bytes[end] !== QUOTE || high >= 0x80) return -1;
      id = end === start ? 0 : this.#strings.addHashed(bytes, start, end, hash);
      after = end + 1;
    } else {
      if (bytes[at] !== 0x6e) return -1;
      after = this.#literal(at);
    }
    if (field === 1) this.type = id;
    else if (field === 2) this.session = id;
    else if (field === 3) this.cwd = id;
    else this.tool = id;
    return after;
  }

  #skip(at: number, depth: number): number {
    const first = this.#bytes[at] as number;
    if (first === QUOTE) return this.#skipString(at);
    if (first === 0x7b || first === 0x5b) return this.#skipNested(at, depth);
    if (first === 0x2d || (first >= 0x30 && first <= 0x39)) return this.#integer(at);
    return this.#literal(at);
  }

  #skipString(at: number): number {
    const bytes = this.#bytes;
    let next = at + 1;
    for (;;) {
      while (STOPS[bytes[next] as number] === 0) next += 1;
      if (bytes[next] === QUOTE) return next + 1;
      if (bytes[next] !== BACKSLASH || !ESCAPED.has(bytes[next + 1] as number)) return -1;
      next += 2;
    }
  }

  #skipNested(at: number, depth: number): number {
    if (depth === DEEPEST) return -1;
    const bytes = this.#bytes;
    const isObject = bytes[at] === 0x7b;
    const close = isObject ? 0x7d : 0x5d;
    let next = at + 1;
    if (bytes[next] === close) return next + 1;
    for (;;) {
      if (isObject) {
        if (bytes[next] !== QUOTE) return -1;
        next = this.#skipString(next);
        if (next === -1 || bytes[next] !== 0x3a) return -1;
        next += 1;
      }
      next = this.#skip(next, depth + 1);
      if (next === -1) return -1;
      if (bytes[next] === close) return next + 1;
      if (bytes[next] !== 0x2c) return -1;
      next += 1;
    }
  }

  /** A whole number as JSON writes it, of at most 15 digits; with a fraction or an exponent it is unusual. */
  #integer(at: number): number {
    const bytes = this.#bytes;
    const start = bytes[at] === 0x2d ? at + 1 : at;
    let next = start;
    while ((bytes[next] as number) >= 0x30 && (bytes[next] as number) <= 0x39) next += 1;
    const digits = next - start;
    if (digits === 0 || digits > 15 || (digits > 1 && bytes[start] === 0x30)) return -1;
    const after = bytes[next];
    return after === 0x2e || after === 0x65 || after === 0x45 ? -1 : next;
  }

  #literal(at: number): number {
    const bytes = this.#bytes;
    if (bytes[at] === 0x74)
      return bytes[at + 1] === 0x72 && bytes[at + 2] === 0x75 && bytes[at + 3] === 0x65 ? at + 4 : -1;
    if (bytes[at] === 0x6e)
      return bytes[at + 1] === 0x75 && bytes[at + 2] === 0x6c && bytes[at + 3] === 0x6c ? at + 4 : -1;
    const isFalse =
      bytes[at] === 0x66 &&
      bytes[at + 1] === 0x61 &&
      bytes[at + 2] === 0x6c &&
      bytes[at + 3] === 0x73 &&
      bytes[at + 4] === 0x65;
    return isFalse ? at + 5 : -1;
  }
}

function decimal(bytes: Uint8Array, start: number, end: number): number {
  if (bytes[start] === 0x2d) return -1;
  let value = 0;
  for (let at = start; at < end; at += 1) value = value * 10 + ((bytes[at] as number) - 0x30);
  return value;
}
