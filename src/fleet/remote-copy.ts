import type { FeedAnswer, ToldRow } from './feed-answer.ts';

/** Removed rows that are remembered; who has not heard of a forgotten one gets all rows. */
const MOST_REMOVED = 1_000;

type KeptRow = ToldRow & { change: number };
type Head = Pick<FeedAnswer, 'host' | 'state' | 'generated_at' | 'tag'>;

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
  /** The rows as they are listed; null when one came or went. */
  #order: KeptRow[] | null = null;
  #whole: Buffer | null = null;

  /** `answer` is a whole one. */
  constructor(answer: FeedAnswer, change: number) {
    this.#head = headOf(answer);
    this.#forgotten = change;
    this.#last_change = change;
    for (const row of answer.rows) this.#rows.set(row.path, { ...row, change });
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
      this.#whole = null;
      this.#forgetRemoved();
      return true;
    }
    return false;
  }

  /** The bytes of `GET /fibers?since=` of that host, for who has no rows of it. */
  whole(): Buffer {
    this.#whole ??= this.#encodeWhole();
    return this.#whole;
  }

  /** The same for who has its rows as they were after a change. */
  since(change: number): Buffer {
    const { host, state, generated_at, tag } = this.#head;
    if (change < this.#forgotten || tag === null) return this.whole();
    const rows: string[] = [];
    const removed: string[] = [];
    if (change < this.#last_change) {
      for (const row of this.#rows.values()) if (row.change > change) rows.push(row.json);
      for (const [path, gone_at] of this.#removed) if (gone_at > change) removed.push(path);
    }
    const head = JSON.stringify({ host, state, generated_at, tag, removed });
    return Buffer.from(`${head.slice(0, -1)},"rows":[${rows.join(',')}]}`);
  }

  #encodeWhole(): Buffer {
    this.#order ??= [...this.#rows.values()].sort(asListed);
    const { host, state, generated_at, tag } = this.#head;
    const head = JSON.stringify({ tag, whole: true, host, state, generated_at });
    const rows = this.#order.map(({ json }) => json);
    return Buffer.from(`${head.slice(0, -1)},"fibers":[${rows.join(',')}]}`);
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
    this.#rows.set(row.path, { ...row, change });
    this.#order = null;
    return true;
  }

  #drop(path: string, change: number): boolean {
    if (!this.#rows.delete(path)) return false;
    this.#removed.set(path, change);
    this.#order = null;
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

/** As the daemons list their rows. */
function asListed(a: ToldRow, b: ToldRow): number {
  return compare(a.id, b.id) || compare(a.store, b.store) || compare(a.path, b.path);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
