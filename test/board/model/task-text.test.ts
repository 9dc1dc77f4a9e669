import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyOf, titleOf } from '../../../board/src/model/task-text.ts';
import { FIELD_LIMITS } from '../../../src/contract/document-limits.ts';

describe('the title and the text of a task', () => {
  it.each([
    ['Load it faster', 'Load it faster', ''],
    ['\n  # Load it faster \n\nIt takes a minute.\n', 'Load it faster', 'It takes a minute.'],
    ['- Load it faster\nby half', 'Load it faster', 'by half'],
    ['#hash is no heading', '#hash is no heading', ''],
    ['', '', ''],
  ])('of %j are %j and %j', (text, title, body) => {
    expect([titleOf(text), bodyOf(text)]).toEqual([title, body]);
  });

  it('keeps the whole of a first line that is too long for a title', () => {
    const text = `${'word '.repeat(60)}\nmore`;
    expect(titleOf(text)).toMatch(/^(word ){23}word…$/);
    expect(bodyOf(text)).toBe(text.trim());
  });

  it('loses no word, and makes a title that a document takes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), (text) => {
        const title = titleOf(text);
        expect(title.length).toBeLessThanOrEqual(FIELD_LIMITS.name_chars);
        if (!title.endsWith('…')) expect(`${title}${bodyOf(text)}`.length).toBeLessThanOrEqual(text.length);
        else expect(bodyOf(text) === text.trim() || text.includes('…')).toBe(true);
      }),
    );
  });
});
