import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FRAME_SAMPLES, Framer, meterOf, peakOf } from '../../../board/src/model/frames.ts';
import { Resampler, SAMPLE_RATE } from '../../../board/src/model/resampler.ts';
import { SAMPLE_RATE as CONTRACT_RATE } from '../../../src/contract/recorder.ts';

/** What a context hands over at once. */
const QUANTUM = 128;
const RATES = [8_000, 16_000, 22_050, 44_100, 48_000, 96_000];

function sine(hertz: number, rate: number, seconds: number): Float32Array {
  return Float32Array.from({ length: Math.round(rate * seconds) }, (_, at) =>
    Math.sin((2 * Math.PI * hertz * at) / rate),
  );
}

function resampled(sound: Float32Array, rate: number, quantum = QUANTUM): Float32Array {
  const resampler = new Resampler(rate);
  const parts: number[] = [];
  for (let from = 0; from < sound.length; from += quantum)
    parts.push(...resampler.push(sound.subarray(from, from + quantum)));
  return Float32Array.from(parts);
}

/** The amplitude of a frequency in a sound at 16 kHz, without its first tenth of a second. */
function amplitude(sound: Float32Array, hertz: number): number {
  const [first, last] = [SAMPLE_RATE / 10, sound.length];
  let [real, imaginary] = [0, 0];
  for (let at = first; at < last; at += 1) {
    const angle = (2 * Math.PI * hertz * at) / SAMPLE_RATE;
    real += (sound[at] ?? 0) * Math.cos(angle);
    imaginary += (sound[at] ?? 0) * Math.sin(angle);
  }
  return (2 * Math.hypot(real, imaginary)) / (last - first);
}

const level = (sound: Float32Array) =>
  Math.sqrt(
    sound.subarray(SAMPLE_RATE / 10).reduce((sum, one) => sum + one * one, 0) /
      (sound.length - SAMPLE_RATE / 10),
  );

describe('sound at 16 kHz', () => {
  it('[AUD-2] has the rate of the contract', () => {
    expect(SAMPLE_RATE).toBe(CONTRACT_RATE);
  });

  it.each(RATES)('is the same sine that came at %i samples a second', (rate) => {
    for (const hertz of [100, 440, 1_000, 3_000]) {
      const result = resampled(sine(hertz, rate, 1.1), rate);
      expect(amplitude(result, hertz), `${hertz} Hz`).toBeCloseTo(1, 2);
      // A pure sine and nothing beside it.
      expect(level(result), `${hertz} Hz`).toBeCloseTo(Math.SQRT1_2, 2);
    }
  });

  it.each([22_050, 44_100, 48_000, 96_000])(
    'has nothing of what it cannot hold, of %i samples a second',
    (rate) => {
      for (const hertz of [8_700, 10_000].filter((one) => one < rate / 2)) {
        expect(level(resampled(sine(hertz, rate, 0.6), rate)), `${hertz} Hz`).toBeLessThan(0.01);
      }
    },
  );

  it.each([44_100, 48_000])('does not drift over ten minutes of %i samples a second', (rate) => {
    const resampler = new Resampler(rate);
    const quantum = new Float32Array(QUANTUM);
    const quanta = Math.floor((600 * rate) / QUANTUM);
    let count = 0;
    for (let nth = 0; nth < quanta; nth += 1) count += resampler.push(quantum).length;
    expect(count).toBe(Math.ceil((quanta * QUANTUM * SAMPLE_RATE) / rate));
  });

  it('is the same however the sound is cut, to the sample', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...RATES),
        fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 700 }),
        fc.integer({ min: 1, max: 300 }),
        (rate, samples, quantum) => {
          const sound = Float32Array.from(samples);
          const result = resampled(sound, rate, quantum);
          expect(result.length).toBe(Math.ceil((sound.length * SAMPLE_RATE) / rate));
          expect(result).toEqual(resampled(sound, rate, sound.length));
        },
      ),
    );
  });
});

describe('frames', () => {
  const frames = (samples: readonly number[], pieces: readonly number[]) => {
    const framer = new Framer();
    const taken: Int16Array[] = [];
    let from = 0;
    for (const piece of pieces) {
      framer.push(Float32Array.from(samples.slice(from, from + piece)), (frame) => taken.push(frame));
      from += piece;
    }
    return taken;
  };

  it('[AUD-2] hold every sample once and in order, 20 ms each, whatever comes at once', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 12 }), (pieces) => {
        const count = pieces.reduce((sum, one) => sum + one, 0);
        const samples = Array.from({ length: count }, (_, at) => ((at % 1_000) - 500) / 1_024);
        const taken = frames(samples, pieces);
        expect(taken.length).toBe(Math.floor(count / FRAME_SAMPLES));
        for (const one of taken) expect(one.length).toBe(FRAME_SAMPLES);
        const whole = taken.flatMap((one) => [...one]);
        expect(whole).toEqual(samples.slice(0, whole.length).map((one) => one * 32_768));
      }),
    );
  });

  it.each([
    [1, 32_767],
    [7, 32_767],
    [-1, -32_768],
    [-7, -32_768],
    [0.5, 16_384],
    [0, 0],
  ])('hold %d as %i', (sample, held) => {
    const [frame] = frames(
      Array.from({ length: FRAME_SAMPLES }, () => sample),
      [FRAME_SAMPLES],
    );
    expect(frame?.[9]).toBe(held);
  });

  it.each([
    [[0, 0], null, 0],
    [[0, -32_768], 0, 1],
    [[16_384, 3], -6.02, 0.9],
    [[-33, 9], -59.9, 0],
    [[1], -90.3, 0],
  ] as const)('of %j are as loud as %d decibels, a meter of %d', (samples, decibels, meter) => {
    const peak = peakOf(Int16Array.from(samples));
    if (decibels === null) expect(peak).toBeNull();
    else expect(peak).toBeCloseTo(decibels, 1);
    expect(meterOf(peak)).toBeCloseTo(meter, 1);
  });
});
