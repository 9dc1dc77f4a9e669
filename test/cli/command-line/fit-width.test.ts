import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { lengthOf } from '../../../src/cli/command-line/fit-width.ts';

it('measures every character, and words of them, as the library does that it asks for unusual ones', () => {
  const unlike: string[] = [];
  for (let code = 0; code < 0x3000; code += 1) {
    const character = String.fromCodePoint(code);
    if (lengthOf(character) !== stringWidth(character)) unlike.push(code.toString(16));
  }
  expect(unlike).toEqual([]);
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...'aé…─│◆●→\u0301\ufe0f\u200d👍日\u001b[1m')), (characters) => {
      const text = characters.join('');
      expect(lengthOf(text)).toBe(stringWidth(text));
    }),
  );
});
