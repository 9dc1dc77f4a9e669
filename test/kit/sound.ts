import { readFileSync, writeFileSync } from 'node:fs';
import { SAMPLE_RATE } from '../../src/contract/recorder.ts';

const HEADER_BYTES = 44;
const BYTES = 2;

/** Writes samples of 16 kHz as a WAV file of one channel. */
export function writeWav(path: string, samples: Int16Array): void {
  const data = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(HEADER_BYTES - 8 + data.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(SAMPLE_RATE * BYTES, 28);
  header.writeUInt16LE(BYTES, 32);
  header.writeUInt16LE(8 * BYTES, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(data.length, 40);
  writeFileSync(path, Buffer.concat([header, data]));
}

/** The samples of a WAV file of one channel and 16 kHz. */
export function readWav(path: string): Int16Array {
  const file = readFileSync(path);
  for (let at = 12; at + 8 <= file.length; ) {
    const size = file.readUInt32LE(at + 4);
    if (file.toString('latin1', at, at + 4) === 'data')
      return samplesOf(file.subarray(at + 8, at + 8 + size));
    at += 8 + size + (size % 2);
  }
  throw new Error(`${path} holds no samples`);
}

/** Bytes of 16-bit samples as numbers. */
export function samplesOf(bytes: Uint8Array): Int16Array {
  const whole = bytes.subarray(0, bytes.length - (bytes.length % BYTES));
  return new Int16Array(Uint8Array.from(whole).buffer);
}

const SENTENCE_S = 4;

/**
 * Sound like speech: a voice of changing pitch in syllables, with a pause of a second after each three, no two seconds of
 * which are alike. The same for the same length.
 */
export function voice(seconds: number): Int16Array {
  const samples = new Int16Array(SAMPLE_RATE * seconds);
  let seed = 7;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  let phase = 0;
  let [pitch, loud, left] = [120, 0, 0];
  let tones = [0, 0, 0];
  for (let at = 0; at < samples.length; at += 1) {
    if (left === 0) {
      left = Math.round(SAMPLE_RATE * (0.08 + 0.17 * random()));
      const pause = (at / SAMPLE_RATE) % SENTENCE_S > SENTENCE_S - 1;
      loud = pause ? 0 : 0.4 + 0.6 * random();
      pitch = 90 + 110 * random();
      tones = [random(), random(), random()];
    }
    left -= 1;
    phase += (2 * Math.PI * pitch) / SAMPLE_RATE;
    // Low enough that half a sample of delay, which no place of a window makes good, changes little of it.
    const tone = tones.reduce(
      (sum, one, nth) => sum + one * Math.sin((2 + nth + Math.floor(3 * one)) * phase),
      0,
    );
    samples[at] = 5_000 * loud * (Math.sin(phase) + tone + 0.02 * (random() - 0.5));
  }
  return samples;
}

/** Quieter windows are ambiguous: they match at many places. */
const QUIET_RMS = 400;
const WINDOW = SAMPLE_RATE / 2;
/** How far the place of a window may be from that of the one before it. */
const SLIP = 400;

/**
 * How like its source a recording is, of which it may lack the beginning: the median over windows of half a second of
 * their correlation, each at its best place.
 */
export function likeness(recorded: Int16Array, source: Int16Array): number {
  const found: number[] = [];
  let place: number | null = null;
  for (let from = 0; from + WINDOW <= recorded.length; from += WINDOW) {
    const window = recorded.subarray(from, from + WINDOW);
    if (Math.sqrt(window.reduce((sum, one) => sum + one * one, 0) / WINDOW) < QUIET_RMS) continue;
    const [first, last] =
      place === null ? [0, source.length - WINDOW] : [from + place - SLIP, from + place + SLIP];
    // What the source has no place for is what was played after its end.
    if (first + WINDOW > source.length) break;
    const [at, best] = bestPlace(window, source, Math.max(0, first), Math.min(last, source.length - WINDOW));
    place = at - from;
    found.push(best);
  }
  return found.toSorted((a, b) => a - b)[Math.floor(found.length / 2)] ?? 0;
}

function bestPlace(window: Int16Array, source: Int16Array, first: number, last: number): [number, number] {
  let best: [number, number] = [first, -1];
  // Coarsely at first: a voice changes slowly enough to be recognised at every fourth sample.
  const step = last - first > 4 * SLIP ? 4 : 1;
  for (let at = first; at <= last; at += step) {
    const like = correlation(window, source, at, step);
    if (like > best[1]) best = [at, like];
  }
  return step === 1
    ? best
    : bestPlace(window, source, Math.max(first, best[0] - 8), Math.min(last, best[0] + 8));
}

function correlation(window: Int16Array, source: Int16Array, at: number, step: number): number {
  let [both, own, other] = [0, 0, 0];
  for (let nth = 0; nth < WINDOW; nth += step) {
    const [a, b] = [window[nth] ?? 0, source[at + nth] ?? 0];
    both += a * b;
    own += a * a;
    other += b * b;
  }
  return own === 0 || other === 0 ? 0 : both / Math.sqrt(own * other);
}
