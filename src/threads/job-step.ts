const HEAD = 3;
const MOST_TOKEN_BYTES = 8 * 1024;
const HEAD_BYTES = HEAD * Int32Array.BYTES_PER_ELEMENT;
const utf8 = new TextEncoder();

/**
 * Which thread a job of the pool is on and how far it is, in shared memory that the pool can read while the thread is blocked.
 * A step may be named by a text token; the count is odd during such a step.
 */
export class JobStep {
  readonly memory: SharedArrayBuffer;
  readonly #head: Int32Array;
  readonly #token: Uint8Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(HEAD_BYTES + MOST_TOKEN_BYTES)) {
    this.memory = memory;
    this.#head = new Int32Array(memory, 0, HEAD);
    this.#token = new Uint8Array(memory, HEAD_BYTES);
  }

  /** Begins a named step; null ends it, or tells that the job went on. */
  note(token: string | null): void {
    if (token !== null) this.#head[1] = utf8.encodeInto(token, this.#token).written;
    const within = Atomics.load(this.#head, 0) % 2 === 1;
    Atomics.add(this.#head, 0, within !== (token !== null) ? 1 : 2);
  }

  /** The number of the step, which never comes again. */
  get number(): number {
    return Atomics.load(this.#head, 0);
  }

  /** The number that the kernel has for the thread; 0 until the job has begun. */
  get thread(): number {
    return Atomics.load(this.#head, 2);
  }

  set thread(thread: number) {
    Atomics.store(this.#head, 2, thread);
  }

  /** The token of the named step that is under way; null between such steps. */
  token(): string | null {
    const number = this.number;
    if (number % 2 === 0) return null;
    const bytes = Uint8Array.from(this.#token.subarray(0, this.#head[1]));
    const token = new TextDecoder().decode(bytes);
    return this.number === number ? token : null;
  }
}
