import { type ActivityColumns, BLOCK_ROWS, KINDS, type Row } from './activity-columns.ts';
import type { Interner } from './interner.ts';

export const MINUTE_MS = 60_000;
/** Number of newest blocks whose bytes are cached; older ones are encoded each time. */
const MOST_KEPT = 256;
/** Longest number with its surrounding characters. */
const NUMBERS_BYTES = 64;

/** A range of rows: its earliest and latest minute, and the rows `[from, to)`. */
export type Block = { from: number; to: number; first: number; last: number };
type Kept = Block & { revision: number; bytes: Uint8Array | null };

/** The buckets of one segment as JSON, block by block, so that only what has changed is encoded again. */
export class EncodedBuckets {
  readonly #activity: ActivityColumns;
  readonly #strings: Interner;
  #kept: Kept[] = [];

  constructor(activity: ActivityColumns, strings: Interner) {
    this.#activity = activity;
    this.#strings = strings;
  }

  /** All rows, in order. */
  blocks(): readonly Block[] {
    const { length } = this.#activity;
    const count = Math.ceil(length / BLOCK_ROWS);
    if (this.#kept.length > count) this.#kept.length = count;
    for (let block = 0; block < count; block += 1) {
      const kept = this.#kept[block];
      const revision = this.#activity.revision(block);
      if (kept === undefined || kept.revision !== revision) this.#kept[block] = this.#look(block, revision);
      else if (block < count - MOST_KEPT) kept.bytes = null;
    }
    return this.#kept;
  }

  /** The buckets of one of the `blocks`, each with a leading comma. */
  bytes(block: Block): Uint8Array {
    const kept = block as Kept;
    if (kept.bytes !== null) return kept.bytes;
    kept.bytes = this.encode(this.#activity.rows(block.from, block.to));
    return kept.bytes;
  }

  /** Rows of this segment as JSON, each with a leading comma. */
  encode(rows: readonly Row[]): Uint8Array {
    const middles = new Map<number, Buffer>();
    const all: Buffer[] = [];
    let size = 0;
    for (const { session, cwd, kind } of rows) {
      const key = (session * this.#strings.size + cwd) * KINDS.length + kind;
      let middle = middles.get(key);
      if (middle === undefined) {
        middle = Buffer.from(
          `,"s":${this.#json(session)},"cwd":${this.#json(cwd)},"k":"${KINDS[kind]}","n":`,
        );
        middles.set(key, middle);
      }
      all.push(middle);
      size += middle.length + NUMBERS_BYTES;
    }
    const bytes = Buffer.allocUnsafe(size);
    let at = 0;
    rows.forEach(({ minute, count }, row) => {
      bytes.set(OPEN, at);
      at = writeNumber(bytes, at + OPEN.length, minute * MINUTE_MS);
      const middle = all[row] as Buffer;
      bytes.set(middle, at);
      at = writeNumber(bytes, at + middle.length, count);
      bytes[at++] = CLOSE;
    });
    // A copy of the exact size, so that the cache does not retain the larger buffer.
    return Uint8Array.from(bytes.subarray(0, at));
  }

  #look(block: number, revision: number): Kept {
    const { minutes } = this.#activity.columns;
    const from = block * BLOCK_ROWS;
    const to = Math.min(this.#activity.length, from + BLOCK_ROWS);
    let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let row = from; row < to; row += 1) {
      const minute = minutes[row] as number;
      if (minute < first) first = minute;
      if (minute > last) last = minute;
    }
    return { from, to, first, last, revision, bytes: null };
  }

  #json(id: number): string {
    return id === 0 ? 'null' : JSON.stringify(this.#strings.text(id));
  }
}

const OPEN = Buffer.from(',{"m":');
const CLOSE = 0x7d;
const ZERO = 0x30;

/** Writes a non-negative integer and returns the offset after it. */
function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  let digits = 1;
  for (let power = 10; value >= power; power *= 10) digits += 1;
  let rest = value;
  for (let place = at + digits - 1; place >= at; place -= 1) {
    const less = Math.floor(rest / 10);
    bytes[place] = ZERO + rest - 10 * less;
    rest = less;
  }
  return at + digits;
}
