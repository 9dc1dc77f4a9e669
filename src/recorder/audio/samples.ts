/** Turns bytes in pieces of any length into samples; half a sample waits for its other half. One for each connection. */
export class Samples {
  #half: number | null = null;

  push(bytes: Uint8Array): Int16Array {
    if (bytes.length === 0) return new Int16Array(0);
    const total = bytes.length + (this.#half === null ? 0 : 1);
    const pcm = new Int16Array(total >> 1);
    const view = new Uint8Array(pcm.buffer);
    const skip = this.#half === null ? 0 : 1;
    if (this.#half !== null && view.length > 0) view[0] = this.#half;
    view.set(bytes.subarray(0, Math.max(0, view.length - skip)), Math.min(skip, view.length));
    this.#half = total % 2 === 0 ? null : bytes.at(-1)!;
    return pcm;
  }
}
