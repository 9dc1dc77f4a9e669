import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Bucket,
  countsOf,
  heightsOf,
  joinReads,
  MINUTE_MS,
  type Recorded,
  sampled,
  tracesOf,
} from '../../../board/src/model/activity.ts';

const bucket = (minute: number, of: Partial<Bucket> = {}): Bucket => ({
  ...{ m: minute * MINUTE_MS, s: 'one', cwd: '/work', k: 'agent', n: 1 },
  ...of,
});
const read = (from: number, to: number, ...minutes: number[]): Recorded => ({
  from: from * MINUTE_MS,
  to: to * MINUTE_MS,
  buckets: minutes.map((minute) => bucket(minute)),
});
const told = (known: Recorded) => ({
  from: known.from / MINUTE_MS,
  to: known.to / MINUTE_MS,
  minutes: known.buckets.map(({ m }) => m / MINUTE_MS),
});

describe('what was read of the activity', () => {
  it.each([
    ['the first read', null, read(0, 9, 3), { from: 0, to: 9, minutes: [3] }],
    ['a later one, over its end', read(0, 9, 3, 8), read(7, 12, 9), { from: 0, to: 12, minutes: [3, 9] }],
    ['one right after it', read(0, 9, 3), read(9, 12, 9), { from: 0, to: 12, minutes: [3, 9] }],
    ['one after a gap', read(0, 9, 3), read(11, 12, 11), { from: 11, to: 12, minutes: [11] }],
  ])('is joined: %s', (_, known, next, joined) => {
    expect(told(joinReads(known, next, 0))).toEqual(joined);
  });

  it('is let go once it is older than what is looked back on', () => {
    expect(told(joinReads(read(0, 9, 3, 6), read(8, 12, 9), 5 * MINUTE_MS))).toEqual({
      ...{ from: 5, to: 12 },
      minutes: [6, 9],
    });
  });

  it('holds what one read of everything would', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(60), { maxLength: 40 }),
        fc.array(fc.tuple(fc.nat(60), fc.integer({ min: 1, max: 20 })), { maxLength: 8 }),
        (minutes, stretches) => {
          const of = (from: number, to: number) =>
            read(from, to, ...new Set(minutes.filter((one) => one >= from && one < to)));
          let known: Recorded = of(0, 5);
          for (const [back, long] of stretches) {
            const from = Math.max(0, known.to / MINUTE_MS - back);
            known = joinReads(known, of(from, from + long), 0);
          }
          const { to, minutes: held } = told(known);
          expect(held.toSorted((a, b) => a - b)).toEqual(told(of(0, to)).minutes.toSorted((a, b) => a - b));
        },
      ),
    );
  });

  it('is counted by session and kind, whatever the folder', () => {
    const { sessions, all } = tracesOf([
      bucket(4, { n: 2 }),
      bucket(2),
      bucket(4, { cwd: '/elsewhere' }),
      bucket(4, { s: 'two', k: 'attention' }),
      bucket(5, { s: null }),
      bucket(4, { k: 'reply' }),
    ]);
    const counts = (...of: [number, number][]) => of.map(([minute, n]) => ({ m: minute * MINUTE_MS, n }));
    expect([...sessions]).toEqual([
      ['one', { work: counts([2, 1], [4, 3]), words: [] }],
      ['two', { work: [], words: counts([4, 1]) }],
    ]);
    expect(all).toEqual({ work: counts([2, 1], [4, 3], [5, 1]), words: counts([4, 1]) });
  });
});

describe('a curve', () => {
  const work = (...of: [number, number][]) => of.map(([minute, n]) => ({ m: minute * MINUTE_MS, n }));
  const hour = { from: 0, to: 60 * MINUTE_MS };

  it('is flat without work, and high where there is much', () => {
    expect(heightsOf([], hour, 360)).toEqual(new Array(60).fill(0));
    const heights = heightsOf(work([10, 1], [40, 30]), hour, 360);
    expect(Math.max(...heights)).toBe(heights[40]);
    expect(heights[10]).toBeGreaterThan(0);
    expect(heights[25]).toBe(0);
  });

  it('takes in what is just beside its stretch', () => {
    const high = heightsOf(work([-1, 9], [60, 9]), hour, 360).flatMap((height, at) => (height > 0 ? at : []));
    expect(high).toEqual([0, 1, 58, 59]);
  });

  it('has no more samples than it may, each between nothing and one', () => {
    const counts = fc.array(fc.record({ m: fc.nat(1_500).map((at) => at * MINUTE_MS), n: fc.nat(500) }));
    fc.assert(
      fc.property(
        counts,
        fc.integer({ min: 1, max: 1_500 }),
        fc.integer({ min: 1, max: 360 }),
        (of, long, most) => {
          const heights = heightsOf(of, { from: 0, to: long * MINUTE_MS }, most);
          expect(heights.length).toBeLessThanOrEqual(most);
          for (const height of heights) {
            expect(height).toBeGreaterThanOrEqual(0);
            expect(height).toBeLessThanOrEqual(1);
          }
        },
      ),
    );
  });

  it.each([
    [[1, 2, 3, 4], 4, [1, 2, 3, 4]],
    [[1, 2, 3, 4, 5], 2, [2, 4.5]],
    [[7], 360, [7]],
  ])('has the mean of each run of values: %j in %i', (values, most, samples) => {
    expect(sampled(values, most)).toEqual(samples);
  });

  it('has the counts of one kind oldest first', () => {
    expect(countsOf([bucket(3), bucket(1), bucket(3), bucket(2, { k: 'notify' })], 'agent')).toEqual([
      { m: MINUTE_MS, n: 1 },
      { m: 3 * MINUTE_MS, n: 2 },
    ]);
  });
});
