import { describe, expect, it } from 'vitest';
import { describeMemoryEnd, isKilledForMemory } from '../../../src/dispatch/run-directory/memory-end.ts';

const full = { kills: 1, peak: 14e9, limit: 14e9 };
const half = { kills: 1, peak: 3.1e9, limit: 14e9 };

describe('the end of a worker that was killed for its memory', () => {
  it.each([
    [
      'its own limit',
      { worker: full, total: null },
      19,
      'killed at 14.0 GB by its memory limit; 19 others unharmed',
    ],
    [
      'its own limit, beside one other',
      { worker: full, total: null },
      1,
      'killed at 14.0 GB by its memory limit; 1 other unharmed',
    ],
    [
      'its own limit, alone',
      { worker: full, total: null },
      0,
      'killed at 14.0 GB by its memory limit; no other worker ran',
    ],
    [
      'its own limit, where the kernel keeps no peak',
      { worker: { ...full, peak: null }, total: null },
      2,
      'killed at 14.0 GB by its memory limit; 2 others unharmed',
    ],
    [
      'the limit of all',
      { worker: half, total: { kills: 0, peak: 20.4e9, limit: 20.4e9 } },
      5,
      'killed at 3.1 GB because all workers together reached their limit of 20.4 GB; 5 others unharmed',
    ],
    [
      'the machine',
      { worker: half, total: { kills: 0, peak: 4e9, limit: 20.4e9 } },
      5,
      'killed at 3.1 GB because the machine ran out of memory; 5 others unharmed',
    ],
    [
      'the machine, where neither peak nor limit is told',
      { worker: { kills: 1, peak: null, limit: null }, total: null },
      5,
      'killed because the machine ran out of memory; 5 others unharmed',
    ],
  ])('names %s', (_what, end, others, sentence) => {
    expect(describeMemoryEnd(end, others)).toBe(sentence);
  });

  it.each([
    [{ signal: 'SIGKILL' }, { worker: full, total: null }, true],
    [{ signal: null }, { worker: full, total: null }, false],
    [{ signal: 'SIGKILL' }, { worker: { ...full, kills: 0 }, total: null }, false],
    [{ signal: 'SIGKILL' }, null, false],
    [null, { worker: full, total: null }, false],
  ])('is told from the signal and the count of its group (%j, %j)', (exit, end, killed) => {
    expect(isKilledForMemory(exit, end)).toBe(killed);
  });
});
