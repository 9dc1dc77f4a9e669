import { describe, expect, it } from 'vitest';
import { alternatives } from '../../src/base/alternatives.ts';

describe('alternatives', () => {
  it.each([
    [[], ''],
    [['a'], 'a'],
    [['a', 'b'], 'a or b'],
    [['a', 'b', 'c'], 'a, b or c'],
  ])('names %j as "%s"', (words, expected) => {
    expect(alternatives(words)).toBe(expected);
  });
});
