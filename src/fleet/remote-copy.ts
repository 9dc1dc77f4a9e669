import { COPY_END } from '../contract/threads/fleet.ts';
import type { FeedAnswer, ToldRow } from './feed-answer.ts';
import { encodeBlocks, type KeptRow, keptRow, type RowBlock, RowBlocks } from './row-blocks.ts';

/** Removed rows that are remembered; who has not heard of a forgotten one gets all rows. */
const MOST_REMOVED = 1_000;

type Head = Pick<FeedAnswer, 'host' | 'state' | 'generated_at' | 'tag'>;

/** What is before the rows of a whole copy, and the rows in blocks. */
export type CopyBlocks = { head: string; blocks: readonly RowBlock[] };

/**
 * The last good copy of the feed of one host: its encoded rows, each with the number of its last change. The numbers are
 * given by the caller, ascend, and count the changes of all hosts.
 */
export class RemoteCopy {
  #head: Head;
  readonly #rows = new Map<string, KeptRow>();
  /** Rows that are gone, by the change that removed them; the longest gone first. */
  readonly #removed = new Map<string, number>();
  /** Removals up to this change are forgotten. */
  #forgotten: number;
  #last_change: number;
  /** The rows as they are listed. */
  readonly #blocks: RowBlocks;

  /** `answer` is a whole one. */
  constructor(answer: FeedAnswer, change: number) {
    this.#head = headOf(answer);
    this.#forgotten = change;
    this.#last_change = change;
    for (const row of answer.rows) this.#rows.set(row.path, keptRow(row, change));
    this.#blocks = new RowBlocks([...this.#rows.values()], change);
  }

  /** The tag of that host; null where it gave none. */
  get tag(): string | null {
    return this.#head.tag;
  }

  get size(): number {
    return this.#rows.size;
  }

  get last_change(): number {
    return this.#last_change;
  }

  /**
   * Takes a later answer; false where it told nothing new, and then `change` has not been used. A host that has not listed
   * its stores yet does not say that the rows of before are gone.
   */
  apply(answer: FeedAnswer, change: number): boolean {
    const moved = this.#takeHead(answer);
    if ((answer.state !== 'cold' && this.#takeRows(answer, change)) || moved) {
      this.#last_change = change;
      this.#forgetRemoved();
      return true;
    }
    return false;
  }

  /** The bytes of `GET /fibers?since=` of that host, for who has no rows of it. */
  whole(): Buffer {
    const { head, blocks } = this.blocks();
    // The first row has no comma before it.
    return Buffer.concat([Buffer.from(head), encodeBlocks(blocks).subarray(1), Buffer.from(COPY_END)]);
  }

  /** What the bytes of `whole` are made of. */
  blocks(): CopyBlocks {
    const { host, state, generated_at, tag } = this.#head;
    const head = JSON.stringify({ tag, whole: true, host, state, generated_at });
    return { head: `${head.slice(0, -1)},"fibers":[`, blocks: this.#blocks.all };
  }

  /** The same for who has its rows as they were after a change. */
  since(change: number): Buffer {
    const { host, state, generated_at, tag } = this.#head;
    if (change < this.#forgotten || tag === null) return this.whole();
    const rows: string[] = [];
    const removed: string[] = [];
    if (change < this.#last_change) {
      for (const block of this.#blocks.all)
        if (block.change > change) for (const row of block.rows) if (row.change > change) rows.push(row.json);
      for (const [path, gone_at] of this.#removed) if (gone_at > change) removed.push(path);
    }
    const head = JSON.stringify({ host, state, generated_at, tag, removed });
    return Buffer.from(`${head.slice(0, -1)},"rows":[${rows.join(',')}]}`);
  }

  #takeRows(answer: FeedAnswer, change: number): boolean {
    let moved = false;
    for (const row of answer.rows) moved = this.#put(row, change) || moved;
    if (answer.removed === null) {
      const told = new Set(answer.rows.map(({ path }) => path));
      for (const path of [...this.#rows.keys()])
        if (!told.has(path)) moved = this.#drop(path, change) || moved;
    } else for (const path of answer.removed) moved = this.#drop(path, change) || moved;
    return moved;
  }

  #takeHead(answer: FeedAnswer): boolean {
    const before = JSON.stringify(this.#head);
    this.#head = headOf(answer);
    return JSON.stringify(this.#head) !== before;
  }

  #put(row: ToldRow, change: number): boolean {
    const known = this.#rows.get(row.path);
    if (known?.json === row.json) return false;
    this.#removed.delete(row.path);
    const kept = keptRow(row, change);
    this.#rows.set(row.path, kept);
    this.#blocks.put(kept, known);
    return true;
  }

  #drop(path: string, change: number): boolean {
    const known = this.#rows.get(path);
    if (known === undefined) return false;
    this.#rows.delete(path);
    this.#removed.set(path, change);
    this.#blocks.drop(known, change);
    return true;
  }

  #forgetRemoved(): void {
    for (const [path, gone_at] of this.#removed) {
      if (this.#removed.size <= MOST_REMOVED) return;
      this.#removed.delete(path);
      this.#forgotten = gone_at;
    }
  }
}

function headOf({ host, state, generated_at, tag }: FeedAnswer): Head {
  return { host, state, generated_at, tag };
}
