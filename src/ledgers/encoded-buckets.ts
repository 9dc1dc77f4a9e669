import { type ActivityColumns, BLOCK_ROWS, KINDS, type Row } from './activity-columns.ts';
import type { Interner } from './interner.ts';

export const MINUTE_MS = 60_000;
/** Longest number with its surrounding characters. */
const NUMBERS_BYTES = 64;

/** A range of rows: its earliest and latest minute, and the rows `[from, to)`. */
export type Block = { from: number; to: number; first: number; last: number };
type Known = Block & { revision: number; id: number };

let lastId = 0;

/**
 * The buckets of one segment as JSON, block by block. A block gets a new id, unique in this thread, when it changes, so
 * that a reader can keep the bytes of each id and asks only for what has changed.
 */
export class EncodedBuckets {
  readonly #activity: ActivityColumns;
  readonly #strings: Interner;
  #known: Known[] = [];

  constructor(activity: ActivityColumns, strings: Interner) {
    this.#activity = activity;
    this.#strings = strings;
  }

  /** All rows, in order. */
  blocks(): readonly Block[] {
    const { length } = this.#activity;
    const count = Math.ceil(length / BLOCK_ROWS);
    if (this.#known.length > count) this.#known.length = count;
    for (let block = 0; block < count; block += 1) {
      const revision = this.#activity.revision(block);
      if (this.#known[block]?.revision !== revision) this.#known[block] = this.#look(block, revision);
    }
    return this.#known;
  }

  /** The id of the bytes of one of the `blocks`. */
  id(block: Block): number {
    return (block as Known).id;
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
    return bytes.subarray(0, at);
  }

  #look(block: number, revision: number): Known {
    const { minutes } = this.#activity.columns;
    const from = block * BLOCK_ROWS;
    const to = Math.min(this.#activity.length, from + BLOCK_ROWS);
    let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let row = from; row < to; row += 1) {
      const minute = minutes[row] as number;
      if (minute < first) first = minute;
      if (minute > last) last = minute;
    }
    lastId += 1;
    return { from, to, first, last, revision, id: lastId };
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
