/** Samples of one frame: 20 ms at 16 kHz. */
export const FRAME_SAMPLES = 320;
const FULL_SCALE = 32_768;

/** Cuts samples from -1 to 1 into frames of signed 16-bit samples, in the byte order of the machine: little-endian. */
export class Framer {
  #frame = new Int16Array(FRAME_SAMPLES);
  #filled = 0;

  /** Hands over each frame that these samples make whole; it belongs to who takes it. */
  push(samples: Float32Array, take: (frame: Int16Array<ArrayBuffer>) => void): void {
    for (const sample of samples) {
      this.#frame[this.#filled] = Math.min(
        FULL_SCALE - 1,
        Math.max(-FULL_SCALE, Math.round(sample * FULL_SCALE)),
      );
      this.#filled += 1;
      if (this.#filled < FRAME_SAMPLES) continue;
      take(this.#frame);
      this.#frame = new Int16Array(FRAME_SAMPLES);
      this.#filled = 0;
    }
  }
}

/** The loudest sample, in decibels below full scale; null of silence without any noise. */
export function peakOf(samples: Int16Array): number | null {
  let peak = 0;
  for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
  return peak === 0 ? null : 20 * Math.log10(peak / FULL_SCALE);
}

/** What a meter shows as empty, in decibels below full scale. */
const QUIETEST_DB = -60;

/** How far a meter stands out, from 0 to 1. */
export function meterOf(peak_db: number | null): number {
  return peak_db === null ? 0 : Math.min(1, Math.max(0, 1 - peak_db / QUIETEST_DB));
}
