import { describe, expect, it } from 'vitest';
import { PeakMeter } from '../../src/meetings/peak-meter.ts';

const frame = (...samples: number[]) => new Uint8Array(Int16Array.from(samples).buffer);

describe('the peak meter', () => {
  it('tells the loudest sample of the last second', () => {
    const meter = new PeakMeter();
    expect(meter.peakDb(0)).toBeNull();
    meter.add(frame(0, 16_384, -3), 1_000);
    expect(meter.peakDb(1_100)).toBeCloseTo(-6, 1);
    meter.add(frame(-32_768), 1_200);
    expect(meter.peakDb(1_300)).toBe(0);
    expect(meter.peakDb(3_000)).toBeNull();
  });

  it('shows silence as the lowest level, and forgets a loud moment', () => {
    const meter = new PeakMeter();
    meter.add(frame(30_000), 1_000);
    for (let at = 1_020; at < 4_000; at += 20) meter.add(frame(0, 0), at);
    expect(meter.peakDb(4_000)).toBe(-90);
  });

  it('reads bytes that begin at any place of their buffer', () => {
    const bytes = new Uint8Array([9, ...frame(16_384)]).subarray(1);
    const meter = new PeakMeter();
    meter.add(bytes, 1_000);
    expect(meter.peakDb(1_000)).toBeCloseTo(-6, 1);
  });
});
