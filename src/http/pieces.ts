/** A body that is in memory. */
export type WholeBody = string | Uint8Array | Pieces;

/** A piece is small if it is less than such a part of what may be sent at one time. */
const SMALL_PART = 4;

/**
 * A body in several pieces, each of which other bodies may have too: a new body that differs from the last one in few
 * of them takes no more memory than those.
 */
export class Pieces {
  readonly all: readonly Uint8Array[];
  /** Of all pieces, in bytes. */
  readonly length: number;
  /** Where each piece begins. */
  readonly #starts: readonly number[];
  /** The bodies that it holds the pieces of. */
  readonly #within: readonly Pieces[];
  #users = 0;
  #unused: (() => void)[] = [];

  constructor(pieces: readonly Uint8Array[], within: readonly Pieces[] = []) {
    const starts: number[] = [];
    let length = 0;
    for (const piece of pieces) {
      starts.push(length);
      length += piece.length;
    }
    this.all = pieces;
    this.length = length;
    this.#starts = starts;
    this.#within = within;
  }

  /** Calls `run` once its memory is not to be sent any more, by itself or in another body. */
  whenUnused(run: () => void): void {
    if (this.#users === 0) run();
    else this.#unused.push(run);
  }

  /** Keeps its memory in use until the function that is returned is called. */
  use(): () => void {
    this.#users += 1;
    const ends = this.#within.map((pieces) => pieces.use());
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#users -= 1;
      for (const end of ends) end();
      if (this.#users === 0) for (const run of this.#unused.splice(0)) run();
    };
  }

  /**
   * The bytes from `from` on, at most `most` of them, in order; none from the end on. Large pieces come as they are; small
   * ones are joined with their neighbours in the memory that `room` gives, which has `most` bytes.
   */
  slices(from: number, most: number, room: () => Uint8Array): Uint8Array[] {
    const slices: Uint8Array[] = [];
    let memory: Uint8Array | null = null;
    let used = 0;
    let joins = false;
    for (const part of this.#parts(from, most)) {
      if (isSmall(part.length, most)) {
        memory ??= room();
        memory.set(part, used);
        const begin = joins ? used - slices.pop()!.length : used;
        used += part.length;
        slices.push(memory.subarray(begin, used));
        joins = true;
      } else {
        slices.push(part);
        joins = false;
      }
    }
    return slices;
  }

  #parts(from: number, most: number): Uint8Array[] {
    const parts: Uint8Array[] = [];
    let length = 0;
    for (let place = this.#placeOf(from); place < this.all.length && length < most; place += 1) {
      const piece = this.all[place]!;
      const rest = piece.subarray(Math.max(0, from - this.#starts[place]!));
      const part = rest.subarray(0, most - length);
      // The rest of a large piece need not be copied if it comes next time.
      if (length > 0 && isSmall(part.length, most) && !isSmall(rest.length, most)) break;
      if (part.length > 0) parts.push(part);
      length += part.length;
    }
    return parts;
  }

  #placeOf(from: number): number {
    let [low, high] = [0, this.#starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle]! + this.all[middle]!.length <= from) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  joined(): Uint8Array {
    return Buffer.concat(this.all, this.length);
  }
}

function isSmall(length: number, most: number): boolean {
  return length < most / SMALL_PART;
}

/** A body that is in memory, to be sent piece by piece. */
export function piecesOf(body: WholeBody): Pieces {
  if (body instanceof Pieces) return body;
  return new Pieces([typeof body === 'string' ? Buffer.from(body) : body]);
}
