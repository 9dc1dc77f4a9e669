import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { questionIn } from '../../../../src/cli/verbs/log/exchanges.ts';

describe('the question that a text ends with', () => {
  it.each<[string, string | null]>([
    ['Which one?', 'Which one?'],
    ['I looked at both. Which one stays?', 'Which one stays?'],
    ['Both work.\n\nWhich of the\ntwo stays?\n', 'Which of the two stays?'],
    ['Which one stays?\n\n1. the first\n2. the second', 'Which one stays?'],
    ['First: is it v1.2 or v1.3? Say so.', 'is it v1.2 or v1.3?'],
    ['Is it this? Or that?!', 'Or that?'],
    ['どちらにしますか？', 'どちらにしますか？'],
    ['Done.', null],
    ['?', null],
    ['', null],
    [`Why did it fail? ${'Because of the cache. '.repeat(40)}`, null],
  ])('of %j is %j', (text, question) => {
    expect(questionIn(text)).toBe(question);
  });

  it('is a part of the text in one line, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', ' ', '\n', '.', '?', '!', '？') }), (text) => {
        const question = questionIn(text);
        if (question === null) return;
        expect(text.replace(/\s+/g, ' ')).toContain(question);
        expect(question).not.toMatch(/\n/);
      }),
    );
  });
});
