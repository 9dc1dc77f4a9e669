import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shellLine, shellWord } from '../../src/base/shell-word.ts';

describe('words for a shell', () => {
  it.each([
    ['/plain/path-1.txt', '/plain/path-1.txt'],
    ["it's", "'it'\\''s'"],
    ['=x', "'=x'"],
    ['', "''"],
  ])('quotes %j only where that is needed', (text, quoted) => expect(shellWord(text)).toBe(quoted));

  it('come out of a shell as they were', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 5 }), (words) => {
        const given = words.map((word) => word.replaceAll('\0', ''));
        const out = execFileSync('sh', ['-c', `printf '%s\\0' ${shellLine(given)}`], { encoding: 'utf8' });
        expect(out.split('\0').slice(0, -1)).toEqual(given);
      }),
      { numRuns: 40 },
    );
  });
});
