/** Samples in one second of what a meeting records (AUD-2). */
export const SAMPLE_RATE = 16_000;

/** How far the filter looks to either side, in samples of the slower of the two rates. */
const REACH = 16;
/** Where the filter cuts, as a part of the highest frequency that the slower rate can hold: it falls off until there. */
const CUT = 0.9;

/**
 * Brings sound to 16 kHz, whatever its rate: a low-pass filter that is evaluated where each sample of the result lies.
 * Positions are kept as whole numbers, so that no length of sound drifts. `rate` is in samples per second.
 */
export class Resampler {
  /** So many samples of the result stand for `#down` of the sound. */
  readonly #up: number;
  readonly #down: number;
  readonly #taps: number;
  /** The filter for each position between two samples, the newest sample first. */
  readonly #phases: Float32Array;
  /** The last samples of the sound, then the new ones. */
  #window: Float32Array;
  /** Where the next sample of the result lies: an index into the new samples, and `#up`ths of a sample past it. */
  #index = 0;
  #phase = 0;

  constructor(rate: number) {
    const whole = Math.max(1, Math.round(rate));
    const common = divisor(SAMPLE_RATE, whole);
    this.#up = SAMPLE_RATE / common;
    this.#down = whole / common;
    const slower = Math.min(1, SAMPLE_RATE / whole);
    this.#taps = 2 * Math.ceil(REACH / slower) + 1;
    this.#phases = filterOf(this.#up, this.#taps, CUT * slower);
    this.#window = new Float32Array(this.#taps - 1);
  }

  /** The samples of the result that the sound so far makes known; of the whole one for each 1/16,000 s. */
  push(sound: Float32Array): Float32Array {
    const before = this.#taps - 1;
    const window = new Float32Array(before + sound.length);
    window.set(this.#window);
    window.set(sound, before);
    const count = Math.max(
      0,
      Math.ceil(((sound.length - this.#index) * this.#up - this.#phase) / this.#down),
    );
    const result = new Float32Array(count);
    for (let at = 0; at < count; at += 1) {
      let sum = 0;
      const newest = before + this.#index;
      const filter = this.#phase * this.#taps;
      for (let tap = 0; tap < this.#taps; tap += 1)
        sum += (window[newest - tap] ?? 0) * (this.#phases[filter + tap] ?? 0);
      result[at] = sum;
      this.#phase += this.#down;
      this.#index += Math.floor(this.#phase / this.#up);
      this.#phase %= this.#up;
    }
    this.#index -= sound.length;
    this.#window = window.slice(sound.length);
    return result;
  }
}

/** A windowed sinc for each of `phases` positions, of unit gain at zero frequency. */
function filterOf(phases: number, taps: number, cut: number): Float32Array {
  const filters = new Float32Array(phases * taps);
  const middle = (taps - 1) / 2;
  for (let phase = 0; phase < phases; phase += 1) {
    const one = Float64Array.from({ length: taps }, (_, tap) => {
      const at = tap + phase / phases - middle;
      return sinc(cut * at) * hamming(at / (middle + 1));
    });
    const gain = one.reduce((sum, value) => sum + value, 0);
    filters.set(
      one.map((value) => value / gain),
      phase * taps,
    );
  }
  return filters;
}

function sinc(at: number): number {
  return at === 0 ? 1 : Math.sin(Math.PI * at) / (Math.PI * at);
}

/** The Hamming window over -1 to 1. */
function hamming(at: number): number {
  return Math.abs(at) >= 1 ? 0 : 0.54 + 0.46 * Math.cos(Math.PI * at);
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}
