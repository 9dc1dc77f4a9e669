import type { ToldRow } from './feed-answer.ts';

/** A row of a copy: its length in bytes, and the number of its last change. */
export type KeptRow = ToldRow & { bytes: number; change: number };

/** Rows that are encoded together; `id` is another one after each change of them. */
export type RowBlock = { id: number; change: number; rows: readonly KeptRow[] };

/** Rows of a block where it is made; it is split at twice as many. */
const ROWS = 8;

/**
 * Rows in the order in which daemons list them, in blocks. A change of a row changes its block and no other, so that who
 * has the bytes of the blocks needs only those of few.
 */
export class RowBlocks {
  #blocks: RowBlock[] = [];
  #last_id = 0;

  constructor(rows: readonly KeptRow[], change: number) {
    const sorted = [...rows].sort(asListed);
    for (let from = 0; from < sorted.length; from += ROWS)
      this.#blocks.push(this.#blockOf(sorted.slice(from, from + ROWS), change));
  }

  get all(): readonly RowBlock[] {
    return this.#blocks;
  }

  /** Puts a row in, in the place of `before` where there was one of its path. */
  put(row: KeptRow, before: KeptRow | undefined): void {
    if (before !== undefined && asListed(before, row) !== 0) this.drop(before, row.change);
    const at = this.#findBlock(row);
    const block = this.#blocks[at];
    if (block === undefined) {
      this.#blocks.push(this.#blockOf([row], row.change));
      return;
    }
    const place = placeIn(block.rows, row);
    const has = block.rows[place];
    const replaces = has !== undefined && asListed(has, row) === 0;
    const rows = block.rows.toSpliced(place, replaces ? 1 : 0, row);
    const parts = rows.length < 2 * ROWS ? [rows] : [rows.slice(0, ROWS), rows.slice(ROWS)];
    this.#blocks.splice(at, 1, ...parts.map((part) => this.#blockOf(part, row.change)));
  }

  /** Takes a row out. */
  drop(row: KeptRow, change: number): void {
    const at = this.#findBlock(row);
    const block = this.#blocks[at];
    if (block === undefined) return;
    const rows = block.rows.filter((one) => asListed(one, row) !== 0);
    const next = this.#blocks[at + 1];
    const joins = next !== undefined && rows.length + next.rows.length <= ROWS;
    const left = joins ? [...rows, ...next.rows] : rows;
    const made = left.length === 0 ? [] : [this.#blockOf(left, change)];
    this.#blocks.splice(at, joins ? 2 : 1, ...made);
  }

  /** Where the last block is that begins with this row or before it. */
  #findBlock(row: ToldRow): number {
    let [low, high] = [0, this.#blocks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (asListed(this.#blocks[middle]!.rows[0]!, row) <= 0) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  #blockOf(rows: readonly KeptRow[], change: number): RowBlock {
    this.#last_id += 1;
    return { id: this.#last_id, change, rows };
  }
}

export function keptRow({ path, id, store, json }: ToldRow, change: number): KeptRow {
  return { path, id, store, json, bytes: Buffer.byteLength(json), change };
}

/** The bytes of a block, with a comma before each of its rows. */
export function lengthOf({ rows }: RowBlock): number {
  return rows.reduce((length, { bytes }) => length + 1 + bytes, 0);
}

/** Blocks one after the other, in a buffer of their own. */
export function encodeBlocks(blocks: readonly RowBlock[]): Buffer {
  const encoded = Buffer.allocUnsafeSlow(blocks.reduce((length, block) => length + lengthOf(block), 0));
  let at = 0;
  for (const { rows } of blocks)
    for (const { json, bytes } of rows) {
      encoded[at] = COMMA;
      encoded.write(json, at + 1);
      at += 1 + bytes;
    }
  return encoded;
}

const COMMA = ','.charCodeAt(0);

/** Where a row is in a block, or belongs. */
function placeIn(rows: readonly ToldRow[], row: ToldRow): number {
  const at = rows.findIndex((one) => asListed(one, row) >= 0);
  return at < 0 ? rows.length : at;
}

/** As the daemons list their rows. */
function asListed(a: ToldRow, b: ToldRow): number {
  return compare(a.id, b.id) || compare(a.store, b.store) || compare(a.path, b.path);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
