const FIRST_SLOTS = 1024;

const HASH_SEED = 0x811c9dc5 | 0;
const HASH_STEP = 0x01000193;
/** Cache slots for frequent strings, addressed by a few of their bytes. */
const RECENT = 4_096;

/** The interner as stored in a checkpoint. */
export type InternedBytes = { bytes: Uint8Array; ends: Int32Array };

/** Maps strings of UTF-8 bytes to small numbers in order of first occurrence; 0 is the empty string. */
export class Interner {
  #bytes = new Uint8Array(16 * 1024);
  #used = 0;
  #hashes: number[] = [];
  #slots = new Int32Array(FIRST_SLOTS);
  #texts: (string | undefined)[] = [];
  readonly #recent = new Int32Array(RECENT);
  #ends = new Int32Array(1024);

  constructor(held?: InternedBytes) {
    let start = 0;
    for (const end of held?.ends ?? [0]) {
      this.addBytes(held?.bytes ?? this.#bytes, start, end);
      start = end;
    }
  }

  get size(): number {
    return this.#hashes.length;
  }

  text(id: number): string {
    const known = this.#texts[id];
    if (known !== undefined) return known;
    const text = Buffer.from(this.#bytes.buffer, this.#start(id), this.#end(id) - this.#start(id)).toString(
      'utf8',
    );
    this.#texts[id] = text;
    return text;
  }

  add(text: string): number {
    const bytes = Buffer.from(text, 'utf8');
    return this.addBytes(bytes, 0, bytes.length);
  }

  addBytes(source: Uint8Array, start: number, end: number): number {
    let hash = HASH_SEED;
    for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (source[at] as number), HASH_STEP);
    const mask = this.#slots.length - 1;
    const length = end - start;
    for (let slot = spread(hash) & mask; ; slot = (slot + 1) & mask) {
      const id = (this.#slots[slot] as number) - 1;
      if (id === -1) return this.#insert(source, start, end, hash, slot);
      if (this.#hashes[id] === hash && this.#same(id, source, start, length)) return id;
    }
  }

  /** As `addBytes`, but fast for a recent string; not for the empty string. */
  addAscii(source: Uint8Array, start: number, end: number): number {
    const length = end - start;
    const last = source[end - 1] as number;
    const near = length > 3 ? ((source[end - 2] as number) << 5) ^ ((source[end - 3] as number) << 2) : 0;
    const middle = (source[start + (length >> 1)] as number) << 3;
    const slot = (last ^ near ^ middle ^ (length << 7)) & (RECENT - 1);
    const id = this.#recent[slot] as number;
    if (id !== 0 && this.#same(id, source, start, length)) return id;
    const found = this.addBytes(source, start, end);
    this.#recent[slot] = found;
    return found;
  }

  held(): InternedBytes {
    return { bytes: this.#bytes.slice(0, this.#used), ends: this.#ends.slice(0, this.size) };
  }

  #same(id: number, source: Uint8Array, start: number, length: number): boolean {
    const own = this.#start(id);
    if (this.#end(id) - own !== length) return false;
    const bytes = this.#bytes;
    for (let at = 0; at < length; at += 1) if (bytes[own + at] !== source[start + at]) return false;
    return true;
  }

  #insert(source: Uint8Array, start: number, end: number, hash: number, slot: number): number {
    const id = this.#hashes.length;
    const length = end - start;
    if (this.#used + length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(2 * this.#bytes.length, this.#used + length));
      grown.set(this.#bytes.subarray(0, this.#used));
      this.#bytes = grown;
    }
    for (let at = 0; at < length; at += 1) this.#bytes[this.#used + at] = source[start + at] as number;
    this.#hashes.push(hash);
    this.#used += length;
    if (id === this.#ends.length) {
      const ends = new Int32Array(2 * id);
      ends.set(this.#ends);
      this.#ends = ends;
    }
    this.#ends[id] = this.#used;
    this.#slots[slot] = id + 1;
    if (2 * (id + 1) > this.#slots.length) this.#rehash();
    return id;
  }

  #rehash(): void {
    const slots = new Int32Array(2 * this.#slots.length);
    const mask = slots.length - 1;
    for (let id = 0; id < this.#hashes.length; id += 1) {
      let slot = spread(this.#hashes[id] as number) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = id + 1;
    }
    this.#slots = slots;
  }

  #start(id: number): number {
    return id === 0 ? 0 : (this.#ends[id - 1] as number);
  }

  #end(id: number): number {
    return this.#ends[id] as number;
  }
}

function spread(hash: number): number {
  return hash ^ (hash >>> 15);
}
