import { Pieces, type WholeBody } from './pieces.ts';

type Waiting = { parts: readonly Part[]; cut: () => void };
/** Memory that several answers may have in common, and its size. */
type Part = { memory: object; bytes: number };

/**
 * Answers whose bodies are in memory and that their clients have not taken yet. All together they keep at most so many
 * bytes, memory that answers share counted once; above it, the answer that waits longest is cut off. A client that
 * reads is never the one, and no other has to be refused.
 */
export class UnsentAnswers {
  readonly #most: number;
  readonly #waiting = new Set<Waiting>();
  readonly #users = new Map<object, number>();
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts a body until the function that is returned is called; `cut` ends its connection. */
  add(body: WholeBody, cut: () => void): () => void {
    const waiting: Waiting = { parts: partsOf(body), cut };
    this.#waiting.add(waiting);
    for (const { memory, bytes } of waiting.parts) {
      const users = this.#users.get(memory) ?? 0;
      this.#users.set(memory, users + 1);
      if (users === 0) this.#bytes += bytes;
    }
    for (const oldest of this.#waiting) {
      // One answer alone may be larger than all that there is room for.
      if (this.#bytes <= this.#most || oldest === waiting) break;
      this.#remove(oldest);
      oldest.cut();
    }
    return () => this.#remove(waiting);
  }

  #remove(waiting: Waiting): void {
    if (!this.#waiting.delete(waiting)) return;
    for (const { memory, bytes } of waiting.parts) {
      const users = this.#users.get(memory)! - 1;
      if (users > 0) this.#users.set(memory, users);
      else {
        this.#users.delete(memory);
        this.#bytes -= bytes;
      }
    }
  }
}

function partsOf(body: WholeBody): Part[] {
  if (typeof body === 'string') return [{ memory: {}, bytes: Buffer.byteLength(body) }];
  const pieces = body instanceof Pieces ? new Set(body.all.map(({ buffer }) => buffer)) : [body.buffer];
  return [...pieces].map((memory) => ({ memory, bytes: memory.byteLength }));
}
