import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ForcedCut } from '../../src/recorder/audio/forced-cut.ts';
import { Frames } from '../../src/recorder/audio/frames.ts';
import { Lag } from '../../src/recorder/audio/lag.ts';
import { levelOf } from '../../src/recorder/audio/level.ts';
import { Samples } from '../../src/recorder/audio/samples.ts';
import { Timeline } from '../../src/recorder/audio/timeline.ts';
import { wavHeader } from '../../src/recorder/audio/wav-header.ts';
import { babble, joinedAudio, silence } from '../kit/made-audio.ts';

const RATE = 16_000;
const pcmOf = (bytes: Uint8Array) => new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);

describe('bytes of a sender', () => {
  it('[AUD-2] become the same samples however they are cut', () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 20 });
    fc.assert(
      fc.property(pieces, (cut) => {
        const samples = new Samples();
        const got = cut.flatMap((piece) => [...samples.push(piece)]);
        const whole = joinedAudio(...cut);
        expect(got).toEqual([...pcmOf(whole.slice(0, whole.length & ~1))]);
      }),
    );
  });

  it('become the same frames of 20 ms however they are cut', () => {
    const pieces = fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 20 });
    fc.assert(
      fc.property(pieces, (lengths) => {
        const frames = new Frames();
        let next = 0;
        const got = lengths.flatMap((length) =>
          frames.push(Int16Array.from({ length }, () => next++ % 32_768)),
        );
        expect(got.every((frame) => frame.length === 320)).toBe(true);
        const all = [...got.flatMap((frame) => [...frame]), ...frames.take()];
        expect(all).toEqual(Array.from({ length: next }, (_, at) => at % 32_768));
      }),
    );
  });
});

describe('the cut of speech without a pause', () => {
  const pieces = (pcm: Int16Array, step = 1_000) => {
    const cut = new ForcedCut();
    const found = [];
    for (let at = 0; at < pcm.length; at += step) found.push(...cut.push(pcm.slice(at, at + step)));
    return [...found, ...cut.flush()];
  };
  const insertedAt = (pcm: Int16Array) => {
    const places: number[] = [];
    let at = 0;
    for (const piece of pieces(pcm)) {
      if (piece.inserted) places.push(at / RATE);
      else at += piece.pcm.length;
    }
    return places.slice(0, -1);
  };

  it('is made at the quietest 20 ms of the last 2 s of every 20 s', () => {
    const speech = pcmOf(joinedAudio(babble(19), babble(0.02, 500), babble(20)));
    const [first, second] = insertedAt(speech);
    expect(first).toBeCloseTo(19.02, 2);
    expect(second).toBeGreaterThan(37);
    expect(second).toBeLessThanOrEqual(39.03);
  });

  it('is not made where people pause, nor in silence', () => {
    const sentence = joinedAudio(babble(8), silence(0.7));
    expect(insertedAt(pcmOf(joinedAudio(...Array.from({ length: 8 }, () => sentence))))).toEqual([]);
    expect(insertedAt(pcmOf(silence(90)))).toEqual([]);
  });

  it('loses and changes no sample, however the audio is cut', () => {
    const speech = pcmOf(joinedAudio(babble(45), silence(1), babble(3)));
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 40_000 }), (step) => {
        const recorded = pieces(speech, step).filter((piece) => !piece.inserted);
        const bytes = recorded.map(({ pcm }) => new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength));
        expect(
          Buffer.concat(bytes).equals(Buffer.from(speech.buffer, speech.byteOffset, speech.byteLength)),
        ).toBe(true);
      }),
      { numRuns: 10 },
    );
  });

  it('is 0.8 s of silence', () => {
    const [piece] = pieces(pcmOf(babble(21))).filter(({ inserted }) => inserted);
    expect(piece?.pcm.length).toBe(0.8 * RATE);
    expect(levelOf(piece!.pcm)).toBe(0);
  });
});

describe('the time of a sample', () => {
  it('passes with what was recorded, stands still in what was inserted, and jumps over what was skipped', () => {
    const timeline = new Timeline(1_000_000);
    timeline.recorded(2 * RATE);
    timeline.inserted(RATE);
    timeline.recorded(RATE);
    timeline.skipped(5 * RATE);
    timeline.recorded(RATE);
    timeline.anchor(2_000_000);
    timeline.recorded(RATE);
    const seconds = (at: number) => timeline.timeOf(at * RATE);
    expect([0, 1, 2, 2.5, 3, 3.5].map(seconds)).toEqual([
      1_000_000, 1_001_000, 1_002_000, 1_002_000, 1_002_000, 1_002_500,
    ]);
    expect([4, 4.5, 5, 6].map(seconds)).toEqual([1_008_000, 1_008_500, 2_000_000, 2_001_000]);
    expect(timeline.end).toBe(2_001_000);
  });

  it('stays the same when what lies before it is forgotten', () => {
    const timeline = new Timeline(0);
    for (let nth = 0; nth < 100; nth += 1) {
      timeline.recorded(20 * RATE);
      timeline.inserted(12_800);
    }
    const before = timeline.timeOf(900_000);
    timeline.forgetBefore(800_000);
    expect(timeline.timeOf(900_000)).toBe(before);
  });
});

describe('the lag of the count of samples behind the clock', () => {
  it.each([
    ['audio that comes at its pace', Array(300).fill(30), 0],
    [
      'audio that stood for 3 s and then caught up',
      [...Array(100).fill(30), ...Array(100).fill(3_000), ...Array(50).fill(30)],
      0,
    ],
    ['audio of which 3 s were dropped for good', Array(300).fill(3_000), 3_000],
    ['audio that comes faster than it was spoken', Array(300).fill(-60_000), 0],
  ])('of %s', (_what, lags, corrected) => {
    const lag = new Lag();
    const found = lags.map((one: number) => lag.push(one, 20)).find((one: number) => one > 0) ?? 0;
    expect(found).toBe(corrected);
  });
});

it('the header of a WAV file says what is in it', () => {
  const header = wavHeader(32_000);
  expect(header.length).toBe(44);
  expect([header.readUInt32LE(4), header.readUInt32LE(40), header.readUInt32LE(28)]).toEqual([
    32_036, 32_000, 32_000,
  ]);
});
