import { describe, expect, it } from 'vitest';
import { oneOf } from '../../src/base/one-of.ts';

describe('alternatives', () => {
  it.each([
    [[], ''],
    [['a'], 'a'],
    [['a', 'b'], 'a or b'],
    [['a', 'b', 'c'], 'a, b or c'],
  ])('names %j as "%s"', (words, expected) => {
    expect(oneOf(words)).toBe(expected);
  });
});
