import { expect, it } from 'vitest';
import { sharedWith } from '../../../src/cli/command-line/screen-words.ts';

it.each([
  [1, 'w1'],
  [6, 'w1, w2, w3, w4, w5, w6'],
  [100, 'w1, w2, w3, w4, w5 and 95 others'],
])('names a few of %i fibers that share a folder', (count, named) => {
  const others = Array.from({ length: count }, (_, at) => `w${at + 1}`);
  expect(sharedWith(others)).toBe(`shares its folder with ${named}`);
});
