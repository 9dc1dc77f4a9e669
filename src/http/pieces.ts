/** A body that is in memory. */
export type WholeBody = string | Uint8Array | Pieces;

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

  constructor(pieces: readonly Uint8Array[]) {
    const starts: number[] = [];
    let length = 0;
    for (const piece of pieces) {
      starts.push(length);
      length += piece.length;
    }
    this.all = pieces;
    this.length = length;
    this.#starts = starts;
  }

  /** What is left of a piece from the byte `from` of the whole on, at most `most` bytes; none from the end on. */
  at(from: number, most: number): Uint8Array {
    let [low, high] = [0, this.#starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle]! + this.all[middle]!.length <= from) low = middle + 1;
      else high = middle;
    }
    const piece = this.all[low];
    if (piece === undefined) return new Uint8Array(0);
    const begin = from - this.#starts[low]!;
    return piece.subarray(begin, begin + most);
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
