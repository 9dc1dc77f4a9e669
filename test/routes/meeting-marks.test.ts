import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { LateMarks } from '../../src/routes/late-marks.ts';

let clock: FakeClock;
let told: string[];
let has_session: boolean;
let late: LateMarks<string>;
beforeEach(() => {
  clock = new FakeClock();
  told = [];
  has_session = false;
  late = new LateMarks(clock, async (mark) => {
    if (!has_session) return { why: 'no worker', later: true };
    told.push(mark);
    return { why: null, later: false };
  });
});

/** Lets this many seconds pass, and what was begun in each of them end. */
async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('a mark whose scribe has no session yet', () => {
  it('is told, once and in order, within 2 s after the scribe has one', async () => {
    late.add('first');
    await pass(30);
    late.add('second');
    expect(told).toEqual([]);
    has_session = true;
    await pass(2);
    expect(told).toEqual(['first', 'second']);
    await pass(10);
    expect(told).toEqual(['first', 'second']);
    late.add('third');
    await pass(2);
    expect(told).toEqual(['first', 'second', 'third']);
  });

  it('gives way to newer ones where too many wait', async () => {
    for (let n = 0; n <= 100; n += 1) late.add(`${n}`);
    has_session = true;
    await pass(2);
    expect(told).toHaveLength(100);
    expect(told[0]).toBe('1');
  });
});
