import { describe, expect, it } from 'vitest';
import { PairLimit } from '../../src/messages/pair-limit.ts';

const HOUR_MS = 3_600_000;

describe('messages between two sessions', () => {
  it('are refused after the limit, in either direction, and go on after an hour', () => {
    const limit = new PairLimit(2);
    limit.take('a', 'b', 0);
    limit.take('b', 'a', 1);
    expect(() => limit.take('a', 'b', 2)).toThrow(/looks like a loop/);
    limit.take('a', 'c', 2);
    limit.take('a', 'b', HOUR_MS);
    expect(() => limit.take('b', 'a', HOUR_MS)).toThrow(/looks like a loop/);
  });
});
