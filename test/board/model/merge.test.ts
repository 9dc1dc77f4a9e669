import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BETWEEN, comparedWith, MINE, merge, THEIRS } from '../../../board/src/model/merge.ts';

const text = (...lines: string[]) => lines.join('\n');
const anyText = fc
  .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 9 })
  .map((lines) => lines.join('\n'));

describe('an edit and what came onto the disk meanwhile', () => {
  it.each([
    [
      'changes with a line between them',
      text('1', 'two', 'three'),
      text('one', 'two', '3'),
      text('1', 'two', '3'),
    ],
    [
      'a line added at each end',
      text('zero', 'one', 'two', 'three'),
      text('one', 'two', 'three', 'four'),
      text('zero', 'one', 'two', 'three', 'four'),
    ],
    [
      'the same change on both sides',
      text('one', '2', 'three'),
      text('one', '2', 'three'),
      text('one', '2', 'three'),
    ],
    [
      'a line taken out and another one changed',
      text('two', 'three'),
      text('one', 'two', '3'),
      text('two', '3'),
    ],
  ])('are put together: %s', (_, mine, theirs, both) => {
    expect(merge(text('one', 'two', 'three'), mine, theirs)).toEqual({ text: both, conflicts: 0 });
  });

  it('are shown one above the other where both changed the same line', () => {
    expect(
      merge(text('one', 'two', 'three'), text('one', 'mine', 'three'), text('one', 'theirs', 'three')),
    ).toEqual({
      text: text('one', MINE, 'mine', BETWEEN, 'theirs', THEIRS, 'three'),
      conflicts: 1,
    });
  });

  it('lose nothing: the side that changed wins over the one that did not, and each line of both is in the result', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (base, mine, theirs) => {
        expect(merge(base, mine, base)).toEqual({ text: mine, conflicts: 0 });
        expect(merge(base, base, theirs)).toEqual({ text: theirs, conflicts: 0 });
        expect(merge(base, mine, mine)).toEqual({ text: mine, conflicts: 0 });
        const merged = new Set(merge(base, mine, theirs).text.split('\n'));
        for (const [one, other] of [
          [mine, theirs],
          [theirs, mine],
        ])
          for (const line of one!.split('\n'))
            if (!base.split('\n').includes(line) || other!.split('\n').includes(line))
              expect(merged.has(line)).toBe(true);
      }),
    );
  });
});

it('marks the lines that another text does not have', () => {
  expect(comparedWith(text('one', 'two', 'three'), text('one', 'three', 'four'))).toEqual([
    { text: 'one', same: true },
    { text: 'two', same: false },
    { text: 'three', same: true },
  ]);
});
