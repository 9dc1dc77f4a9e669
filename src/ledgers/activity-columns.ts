/** Kinds of an activity bucket; a column stores the index. */
export const KINDS = ['attention', 'notify', 'agent', 'reply'] as const;
export type Kind = (typeof KINDS)[number];
export const KIND: Readonly<Record<Kind, number>> = { attention: 0, notify: 1, agent: 2, reply: 3 };

/** Minutes of the coarser buckets: an hour, then a day. */
const COARSER = [60, 1_440] as const;

/** One bucket; session and folder are ids of the segment's interner. */
export type Row = { minute: number; session: number; cwd: number; kind: number; count: number };

/** Rows of one block, the unit of change. An event costs the encoding of one block; an answer sends every block. */
export const BLOCK_ROWS = 1_024;

/** The columns as stored in a checkpoint. */
export type HeldColumns = {
  minutes: Int32Array;
  sessions: Int32Array;
  cwds: Int32Array;
  kinds: Uint8Array;
  counts: Int32Array;
};

/**
 * Counts by minute, session, folder and kind in typed arrays, in order of first occurrence. Beyond `most` rows the
 * older half is merged into hours, then into days, and then dropped.
 */
export class ActivityColumns {
  readonly #most: number;
  #length = 0;
  #held: HeldColumns;
  #slots: Int32Array;
  #changes = 0;
  /** Version of the last change to each block. */
  readonly #changed: number[] = [];

  constructor(most: number, held?: HeldColumns) {
    this.#most = most;
    this.#held = held ?? emptyColumns(256);
    this.#length = held?.minutes.length ?? 0;
    this.#slots = new Int32Array(0);
    this.#rehash();
  }

  get length(): number {
    return this.#length;
  }

  /** The raw columns; only the first `length` entries are valid. */
  get columns(): Readonly<HeldColumns> {
    return this.#held;
  }

  /** The rows `[from, to)`. */
  rows({ from, to }: { from: number; to: number }): Row[] {
    const { minutes, sessions, cwds, kinds, counts } = this.#held;
    const rows: Row[] = [];
    for (let row = from; row < to; row += 1)
      rows.push({
        minute: minutes[row] as number,
        session: sessions[row] as number,
        cwd: cwds[row] as number,
        kind: kinds[row] as number,
        count: counts[row] as number,
      });
    return rows;
  }

  /** A version number that changes whenever the block of rows changes. */
  revision(block: number): number {
    return this.#changed[block] ?? 0;
  }

  held(): HeldColumns {
    const { minutes, sessions, cwds, kinds, counts } = this.#held;
    const end = this.#length;
    return {
      minutes: minutes.slice(0, end),
      sessions: sessions.slice(0, end),
      cwds: cwds.slice(0, end),
      kinds: kinds.slice(0, end),
      counts: counts.slice(0, end),
    };
  }

  add(minute: number, session: number, cwd: number, kind: number, count: number): void {
    this.#count(minute, session, cwd, kind, count);
    if (this.#length > this.#most) this.#fold();
  }

  #count(minute: number, session: number, cwd: number, kind: number, count: number): void {
    const { minutes, sessions, cwds, kinds, counts } = this.#held;
    const mask = this.#slots.length - 1;
    let slot = place(minute, session, cwd, kind) & mask;
    for (;;) {
      const row = (this.#slots[slot] as number) - 1;
      if (row === -1) break;
      if (minutes[row] === minute && sessions[row] === session && cwds[row] === cwd && kinds[row] === kind) {
        counts[row] = (counts[row] as number) + count;
        this.#note(row);
        return;
      }
      slot = (slot + 1) & mask;
    }
    this.#append(minute, session, cwd, kind, count, slot);
  }

  #append(minute: number, session: number, cwd: number, kind: number, count: number, slot: number): void {
    if (this.#length === this.#held.minutes.length) {
      const grown = emptyColumns(Math.max(256, 2 * this.#length));
      for (const name of Object.keys(grown) as (keyof HeldColumns)[]) grown[name].set(this.#held[name]);
      this.#held = grown;
    }
    const row = this.#length;
    this.#length += 1;
    this.#held.minutes[row] = minute;
    this.#held.sessions[row] = session;
    this.#held.cwds[row] = cwd;
    this.#held.kinds[row] = kind;
    this.#held.counts[row] = count;
    this.#slots[slot] = row + 1;
    this.#note(row);
    if (2 * this.#length > this.#slots.length) this.#rehash();
  }

  #note(row: number): void {
    this.#changes += 1;
    this.#changed[Math.floor(row / BLOCK_ROWS)] = this.#changes;
  }

  #fold(): void {
    const before = this.held();
    const middle = Int32Array.from(before.minutes).sort()[before.minutes.length >> 1] as number;
    for (const step of COARSER) {
      this.#fill(before, (minute) => (minute < middle ? minute - (minute % step) : minute));
      if (this.#length <= 0.75 * this.#most) return;
    }
    this.#fill(before, (minute) => (minute < middle ? null : minute));
    // If all rows are of one minute, the first rows are dropped.
    if (this.#length > 0.75 * this.#most) {
      const half = this.held();
      const from = half.minutes.length - (this.#most >> 1);
      this.#fill(half, (minute, row) => (row < from ? null : minute));
    }
  }

  #fill(from: HeldColumns, fold: (minute: number, row: number) => number | null): void {
    this.#length = 0;
    this.#held = emptyColumns(from.minutes.length + 1);
    this.#slots = new Int32Array(0);
    this.#rehash(from.minutes.length);
    from.minutes.forEach((minute, row) => {
      const folded = fold(minute, row);
      if (folded === null) return;
      const { sessions, cwds, kinds, counts } = from;
      this.#count(
        folded,
        sessions[row] as number,
        cwds[row] as number,
        kinds[row] as number,
        counts[row] as number,
      );
    });
  }

  #rehash(least = this.#length): void {
    let size = 512;
    while (size < 3 * least) size *= 2;
    const slots = new Int32Array(size);
    const { minutes, sessions, cwds, kinds } = this.#held;
    for (let row = 0; row < this.#length; row += 1) {
      let slot =
        place(minutes[row] as number, sessions[row] as number, cwds[row] as number, kinds[row] as number) &
        (size - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (size - 1);
      slots[slot] = row + 1;
    }
    this.#slots = slots;
  }
}

function emptyColumns(length: number): HeldColumns {
  return {
    minutes: new Int32Array(length),
    sessions: new Int32Array(length),
    cwds: new Int32Array(length),
    kinds: new Uint8Array(length),
    counts: new Int32Array(length),
  };
}

function place(minute: number, session: number, cwd: number, kind: number): number {
  let hash = Math.imul(minute, 0x9e3779b1) ^ Math.imul(session + 1, 0x85ebca6b);
  hash ^= Math.imul(cwd + 1, 0xc2b2ae35) ^ Math.imul(kind + 1, 0x27d4eb2f);
  return hash ^ (hash >>> 15);
}
