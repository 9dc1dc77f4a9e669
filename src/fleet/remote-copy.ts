import type { LentBytes } from '../base/lent-bytes.ts';
import { SpareMemories } from './bytes-in-place.ts';
import { CopyRows } from './copy-rows.ts';
import type { FeedAnswer } from './feed-answer.ts';

/** Removed rows that are remembered; a reader with an older copy gets all rows. */
const MOST_REMOVED = 1_000;

type Head = Pick<FeedAnswer, 'host' | 'state' | 'generated_at' | 'tag'>;

/**
 * The last good copy of the feed of one host: its encoded rows, each with the number of its last change. The numbers are
 * given by the caller, ascend, and count the changes of all hosts.
 */
export class RemoteCopy {
  #head: Head;
  readonly #rows: CopyRows;
  /** Rows that are gone, by the change that removed them; the longest gone first. */
  readonly #removed = new Map<string, number>();
  /** Removals up to this change are no longer known. */
  #forgotten: number;
  #last_change: number;

  /** `answer` is a whole one. Copies may have their `spares` in common. */
  constructor(answer: FeedAnswer, change: number, spares = new SpareMemories()) {
    this.#rows = new CopyRows(spares);
    this.#head = headOf(answer);
    this.#forgotten = change;
    this.#last_change = change;
    this.#rows.take(answer.rows, [], change);
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

  /** The rows that have this text, as JSON. */
  rowsWith(text: string): string[] {
    return this.#rows.with(text);
  }

  /** The bytes of `GET /fibers?since=` of that host for a reader without its rows. */
  whole(): Uint8Array {
    return Buffer.concat([Buffer.from(this.#wholeHead()), this.#rows.bytes.subarray(1), Buffer.from(END)]);
  }

  /** The same for another thread: the rows, each with a comma before it, and the text around them. */
  lend(): { around: [string, string]; rows: LentBytes } {
    return { around: [this.#wholeHead(), END], rows: this.#rows.lend() };
  }

  /** The same for a reader that has its rows as of a change. */
  since(change: number): Uint8Array {
    const { host, state, generated_at, tag } = this.#head;
    if (change < this.#forgotten || tag === null) return this.whole();
    const isSame = change >= this.#last_change;
    const [first, ...rows] = isSame ? [] : this.#rows.changedAfter(change);
    const removed = [...this.#removed].flatMap(([path, gone_at]) => (gone_at > change ? [path] : []));
    const head = JSON.stringify({ host, state, generated_at, tag, removed });
    const begin = Buffer.from(`${head.slice(0, -1)},"rows":[`);
    return Buffer.concat([
      begin,
      ...(first === undefined ? [] : [first.subarray(1), ...rows]),
      Buffer.from(END),
    ]);
  }

  #wholeHead(): string {
    const { host, state, generated_at, tag } = this.#head;
    const head = JSON.stringify({ tag, whole: true, host, state, generated_at });
    return `${head.slice(0, -1)},"fibers":[`;
  }

  #takeHead(answer: FeedAnswer): boolean {
    const before = JSON.stringify(this.#head);
    this.#head = headOf(answer);
    return JSON.stringify(this.#head) !== before;
  }

  #takeRows({ rows, removed }: FeedAnswer, change: number): boolean {
    const { moved, dropped } = this.#rows.take(rows, removed ?? this.#allBut(rows), change);
    for (const { path } of rows) this.#removed.delete(path);
    for (const path of dropped) this.#removed.set(path, change);
    return moved;
  }

  #allBut(rows: FeedAnswer['rows']): string[] {
    const told = new Set(rows.map(({ path }) => path));
    return [...this.#rows.paths()].filter((path) => !told.has(path));
  }

  #forgetRemoved(): void {
    for (const [path, gone_at] of this.#removed) {
      if (this.#removed.size <= MOST_REMOVED) return;
      this.#removed.delete(path);
      this.#forgotten = gone_at;
    }
  }
}

const END = ']}';

function headOf({ host, state, generated_at, tag }: FeedAnswer): Head {
  return { host, state, generated_at, tag };
}
