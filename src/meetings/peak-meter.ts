/** How long a peak is shown, in milliseconds. */
const SHOWN_MS = 1_000;
const FULL_SCALE = 32_768;
/** What silence is shown as, in decibels below full scale. */
const FLOOR_DB = -90;

/** The loudest sample of the last second of 16-bit little-endian audio. */
export class PeakMeter {
  #now = { at: 0, peak: 0 };
  #before = { at: 0, peak: 0 };

  add(bytes: Uint8Array, at: number): void {
    let peak = 0;
    const samples = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let offset = 0; offset + 1 < bytes.byteLength; offset += 2)
      peak = Math.max(peak, Math.abs(samples.getInt16(offset, true)));
    if (Math.abs(at - this.#now.at) >= SHOWN_MS / 2) {
      this.#before = this.#now;
      this.#now = { at, peak };
    } else this.#now.peak = Math.max(this.#now.peak, peak);
  }

  /** In decibels below full scale, at least -90; null where the last second brought no audio. */
  peakDb(now: number): number | null {
    const recent = [this.#now, this.#before].filter(({ at }) => at > 0 && Math.abs(now - at) <= SHOWN_MS);
    if (recent.length === 0) return null;
    const peak = Math.max(...recent.map((one) => one.peak));
    if (peak === 0) return FLOOR_DB;
    return Math.max(FLOOR_DB, Math.round(200 * Math.log10(peak / FULL_SCALE)) / 10);
  }
}
