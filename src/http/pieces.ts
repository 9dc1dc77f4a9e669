/** A body that is in memory. */
export type WholeBody = string | Uint8Array | Pieces;

/** A piece is sent as it is where it has so large a part of what may be sent at one time. */
const ENOUGH = 4;

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
   * What is left of a piece from the byte `from` of the whole on, at most `most` bytes; none from the end on. Where that is
   * little, it is joined with what follows it in the memory that `room` gives, which has `most` bytes.
   */
  at(from: number, most: number, room?: () => Uint8Array): Uint8Array {
    let [low, high] = [0, this.#starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle]! + this.all[middle]!.length <= from) low = middle + 1;
      else high = middle;
    }
    const piece = this.all[low];
    if (piece === undefined) return new Uint8Array(0);
    const begin = from - this.#starts[low]!;
    const part = piece.subarray(begin, begin + most);
    const isLast = from + part.length === this.length;
    if (room === undefined || isLast || part.length >= most / ENOUGH) return part;
    const joined = room();
    joined.set(part);
    let length = part.length;
    for (let next = low + 1; next < this.all.length && length < most; next += 1) {
      const more = this.all[next]!.subarray(0, most - length);
      joined.set(more, length);
      length += more.length;
    }
    return joined.subarray(0, length);
  }

  joined(): Uint8Array {
    return Buffer.concat(this.all, this.length);
  }
}

/** A body that is in memory, to be sent piece by piece. */
export function piecesOf(body: WholeBody): Pieces {
  if (body instanceof Pieces) return body;
  return new Pieces([typeof body === 'string' ? Buffer.from(body) : body]);
}
