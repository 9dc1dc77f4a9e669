import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fold, foldWithPlaces } from '../../../src/fibers/search/fold.ts';

const texts = fc.string({ unit: 'grapheme', maxLength: 40 });

it('[RPL-4] folds a text in pieces as it folds it whole, with an offset for each unit', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const { folded, starts } = foldWithPlaces(text);
      expect(folded).toBe(fold(text));
      expect(starts.length).toBe(folded.length + 1);
      expect([...starts]).toEqual([...starts].sort((a, b) => a - b));
      expect(starts.at(-1)).toBe(text.length);
    }),
    { numRuns: 1_000 },
  );
});

it('[RPL-4] is idempotent', () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(fold(fold(text))).toBe(fold(text));
    }),
    { numRuns: 1_000 },
  );
});
