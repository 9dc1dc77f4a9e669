import { FRAME } from './level.ts';

/** Cuts audio of any length into frames of 20 ms; what is left over waits for more. */
export class Frames {
  #rest = new Int16Array(0);

  push(pcm: Int16Array): Int16Array[] {
    const all = this.#rest.length === 0 ? pcm : joined(this.#rest, pcm);
    const whole = all.length - (all.length % FRAME);
    const frames: Int16Array[] = [];
    for (let at = 0; at < whole; at += FRAME) frames.push(all.subarray(at, at + FRAME));
    this.#rest = all.slice(whole);
    return frames;
  }

  /** What was left over, which is then forgotten. */
  take(): Int16Array {
    const rest = this.#rest;
    this.#rest = new Int16Array(0);
    return rest;
  }
}

function joined(first: Int16Array, second: Int16Array): Int16Array {
  const all = new Int16Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
