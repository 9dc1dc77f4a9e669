const HEAD = 2;
const MOST_TOKEN_BYTES = 8 * 1024;
const HEAD_BYTES = HEAD * Int32Array.BYTES_PER_ELEMENT;
const utf8 = new TextEncoder();

/**
 * The current step of a pool thread's job, in shared memory that the pool can read while the thread is blocked. A step
 * is named by a text token. The count is odd during a step.
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

  /** Begins a step; null ends the current one. */
  note(token: string | null): void {
    if (token !== null) this.#head[1] = utf8.encodeInto(token, this.#token).written;
    const within = Atomics.load(this.#head, 0) % 2 === 1;
    if (within !== (token !== null)) Atomics.add(this.#head, 0, 1);
    else if (within) Atomics.add(this.#head, 0, 2);
  }

  /** The current step and its number; null between steps. */
  current(): { number: number; token: string } | null {
    const number = Atomics.load(this.#head, 0);
    if (number % 2 === 0) return null;
    const bytes = Uint8Array.from(this.#token.subarray(0, this.#head[1]));
    const token = new TextDecoder().decode(bytes);
    return Atomics.load(this.#head, 0) === number ? { number, token } : null;
  }
}

/** Calls `onStuck` once when a step takes longer than `step_ms`; noticed after at most 1.5 times that. */
export function watchSteps(
  step: JobStep,
  step_ms: number,
  every: (ms: number, run: () => void) => () => void,
  onStuck: (token: string) => void,
): () => void {
  let before: number | null = null;
  let seen = 0;
  const stop = every(step_ms / 2, () => {
    const now = step.current();
    seen = now !== null && now.number === before ? seen + 1 : 0;
    before = now?.number ?? null;
    if (now === null || seen < 2) return;
    stop();
    onStuck(now.token);
  });
  return stop;
}
