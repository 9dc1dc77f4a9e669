import { createHash } from 'node:crypto';
import type { LentBytes } from '../base/lent-bytes.ts';
import { BytesInPlace, SpareMemories } from './bytes-in-place.ts';
import type { ToldRow } from './feed-answer.ts';

/** The keys by which a row is found and sorted. */
type Key = Omit<ToldRow, 'json'>;
/** A row where it is: its place in the list, and its bytes with the comma before it. */
type FoundRow = { key: Key; place: number; start: number };
type PutRow = { key: Key; bytes: Uint8Array; was: FoundRow | undefined };

/**
 * Up to this many changes are made one by one; for more, all bytes are rewritten. Moving the bytes behind a change is
 * about 200 times as fast as reading all rows.
 */
const FEW = 128;

/**
 * The rows of a copy as daemons list them: their bytes one after the other, each with a comma before it. Beside them there
 * are only numbers, by the place of each row in the list; what orders a row is read from its bytes when it is needed.
 */
export class CopyRows {
  readonly #few: number;
  readonly #bytes: BytesInPlace;
  /** Length of each row with its comma, in bytes. */
  #lengths: number[] = [];
  /** Number of the last change of each row. */
  #changes: number[] = [];
  /** Digest of the path of each row. */
  #hashes: number[] = [];

  constructor(spares = new SpareMemories(), few = FEW) {
    this.#bytes = new BytesInPlace(spares);
    this.#few = few;
  }

  get size(): number {
    return this.#lengths.length;
  }

  paths(): string[] {
    return this.#all().map(({ key }) => key.path);
  }

  /** All bytes, as of now. */
  get bytes(): Uint8Array {
    return this.#bytes.all;
  }

  /** The same, and so until the reader gives them back. */
  lend(): LentBytes {
    return this.#bytes.lend();
  }

  /** The bytes of the rows that changed after a change, as of now. */
  changedAfter(change: number): Uint8Array[] {
    const all = this.#bytes.all;
    const changed: Uint8Array[] = [];
    let end = 0;
    for (const [place, length] of this.#lengths.entries()) {
      end += length;
      if (this.#changes[place]! > change) changed.push(all.subarray(end - length, end));
    }
    return changed;
  }

  /** The rows that have this text, as JSON. */
  with(text: string): string[] {
    const all = this.#buffer();
    if (!all.includes(text)) return [];
    let end = 0;
    return this.#lengths.flatMap((length) => {
      end += length;
      const row = all.subarray(end - length + 1, end);
      return row.includes(text) ? [row.toString()] : [];
    });
  }

  /** Takes what a host told of them; answers whether anything changed by that, and the paths that are gone. */
  take(
    told: readonly ToldRow[],
    gone: readonly string[],
    change: number,
  ): { moved: boolean; dropped: string[] } {
    const find = told.length + gone.length > this.#few ? this.#finder() : (path: string) => this.#find(path);
    const left = new Set(gone);
    const drops = [...left].flatMap((path) => find(path) ?? []);
    const puts = this.#changedOf(told, left, find);
    if (puts.length + drops.length <= this.#few) {
      for (const { key, bytes } of puts) this.#put(key, bytes, change);
      for (const { key } of drops) this.#drop(key.path);
    } else this.#rewrite(this.#all(), puts, drops, change);
    return { moved: puts.length + drops.length > 0, dropped: drops.map(({ key }) => key.path) };
  }

  /** The rows whose bytes differ from the stored ones; if a path occurs twice, the last one counts. */
  #changedOf(
    told: readonly ToldRow[],
    gone: ReadonlySet<string>,
    find: (path: string) => FoundRow | undefined,
  ): PutRow[] {
    const last = new Map(told.map((row) => [row.path, row]));
    const all = this.#bytes.all;
    return [...last.values()].flatMap(({ json, ...key }): PutRow[] => {
      if (gone.has(key.path)) return [];
      const bytes = Buffer.from(`,${json}`);
      const was = find(key.path);
      if (was === undefined) return [{ key, bytes, was }];
      const length = this.#lengths[was.place]!;
      return bytes.equals(all.subarray(was.start, was.start + length)) ? [] : [{ key, bytes, was }];
    });
  }

  #put(key: Key, bytes: Uint8Array, change: number): void {
    const was = this.#find(key.path);
    if (was !== undefined && asListed(was.key, key) === 0) {
      this.#bytes.splice(was.start, this.#lengths[was.place]!, bytes);
      this.#lengths[was.place] = bytes.length;
      this.#changes[was.place] = change;
      return;
    }
    if (was !== undefined) this.#drop(key.path);
    const place = this.#placeOf(key);
    this.#bytes.splice(this.#startOf(place), 0, bytes);
    this.#lengths.splice(place, 0, bytes.length);
    this.#changes.splice(place, 0, change);
    this.#hashes.splice(place, 0, hashOf(key.path));
  }

  #drop(path: string): void {
    const row = this.#find(path);
    if (row === undefined) return;
    this.#bytes.splice(row.start, this.#lengths[row.place]!, NOTHING);
    for (const numbers of [this.#lengths, this.#changes, this.#hashes]) numbers.splice(row.place, 1);
  }

  #rewrite(
    rows: Iterable<FoundRow>,
    puts: readonly PutRow[],
    drops: readonly FoundRow[],
    change: number,
  ): void {
    const all = this.#bytes.all;
    const replaced = new Set([...puts.map(({ was }) => was?.place), ...drops.map(({ place }) => place)]);
    const kept = [...rows].flatMap(({ key, place, start }) => {
      if (replaced.has(place)) return [];
      const bytes = all.subarray(start, start + this.#lengths[place]!);
      return [{ key, bytes, change: this.#changes[place]! }];
    });
    const sorted = [...kept, ...puts.map(({ key, bytes }) => ({ key, bytes, change }))];
    sorted.sort((a, b) => asListed(a.key, b.key));
    this.#lengths = sorted.map(({ bytes }) => bytes.length);
    this.#bytes.become(sorted.map(({ bytes }) => bytes));
    this.#changes = sorted.map((row) => row.change);
    this.#hashes = sorted.map(({ key }) => hashOf(key.path));
  }

  #all(): FoundRow[] {
    const all = this.#buffer();
    let end = 0;
    return this.#lengths.map((length, place) => {
      end += length;
      return { key: keyIn(all.subarray(end - length + 1, end)), place, start: end - length };
    });
  }

  #find(path: string): FoundRow | undefined {
    const hash = hashOf(path);
    for (let place = this.#hashes.indexOf(hash); place >= 0; place = this.#hashes.indexOf(hash, place + 1)) {
      const key = this.#keyAt(place);
      if (key.path === path) return { key, place, start: this.#startOf(place) };
    }
    return undefined;
  }

  /** Finds many rows of now; a path that no row has costs no reading of rows. */
  #finder(): (path: string) => FoundRow | undefined {
    const places = new Map<number, number[]>();
    const starts: number[] = [];
    let start = 0;
    for (const [place, hash] of this.#hashes.entries()) {
      const same = places.get(hash);
      if (same === undefined) places.set(hash, [place]);
      else same.push(place);
      starts.push(start);
      start += this.#lengths[place]!;
    }
    return (path) => {
      for (const place of places.get(hashOf(path)) ?? []) {
        const at = starts[place]!;
        const key = keyIn(this.#buffer().subarray(at + 1, at + this.#lengths[place]!));
        if (key.path === path) return { key, place, start: at };
      }
      return undefined;
    };
  }

  /** Where a row belongs in the list. */
  #placeOf(key: Key): number {
    let [low, high] = [0, this.size];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (asListed(this.#keyAt(middle), key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #keyAt(place: number): Key {
    const start = this.#startOf(place);
    return keyIn(this.#buffer().subarray(start + 1, start + this.#lengths[place]!));
  }

  /** Where the bytes of the row at a place begin. */
  #startOf(place: number): number {
    let start = 0;
    for (let at = 0; at < place; at += 1) start += this.#lengths[at]!;
    return start;
  }

  #buffer(): Buffer {
    const { buffer, byteOffset, length } = this.#bytes.all;
    return Buffer.from(buffer, byteOffset, length);
  }
}

const NOTHING = new Uint8Array(0);

function keyIn(row: Buffer): Key {
  const { path, id, store } = JSON.parse(row.toString()) as Key;
  return { path, id, store };
}

/** 48 bits of a digest, so that nobody can make rows of which many have the same. */
function hashOf(path: string): number {
  return createHash('sha256').update(path).digest().readUIntBE(0, 6);
}

/** The sort order in which daemons list rows. */
function asListed(a: Key, b: Key): number {
  return compare(a.id, b.id) || compare(a.store, b.store) || compare(a.path, b.path);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
