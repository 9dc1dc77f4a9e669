import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { didYouMean, nearestWords } from '../../src/base/nearest-words.ts';

const VERBS = ['dispatch', 'status', 'stop-all', 'ps', 'send', 'search', 'kill'];

describe('the word that was meant', () => {
  it.each([
    ['dispach', ['dispatch']],
    ['stauts', ['status']],
    ['Status', ['status']],
    ['sned', ['send']],
    ['serch', ['search']],
    ['stop_all', ['stop-all']],
    ['disp', ['dispatch']],
    ['sta', ['status']],
    ['st', []],
    ['relase', []],
    ['x', []],
    ['', []],
  ])('%s: %j', (typed, expected) => {
    expect(nearestWords(typed, VERBS)).toEqual(expected);
  });

  it('names all that are as near, and no more than three', () => {
    expect(nearestWords('task-0', ['task-1', 'task-2', 'other'])).toEqual(['task-1', 'task-2']);
    expect(nearestWords('task-0', ['task-4', 'task-1', 'task-2', 'task-3'])).toHaveLength(3);
    expect(didYouMean('task-0', ['task-1', 'task-2'])).toBe(' Did you mean task-1 or task-2?');
    expect(didYouMean('x', VERBS)).toBe('');
    const agents = ['claude-sonnet', 'claude-opus', 'codex', 'claude-haiku', 'claude-fable'];
    expect(didYouMean('claude', agents)).toBe(' Did you mean claude-sonnet, claude-opus or claude-haiku?');
  });

  const word = fc.stringMatching(/^[a-z-]{4,12}$/);
  it('is found again with one letter too few, too many or wrong, or two swapped', () => {
    fc.assert(
      fc.property(word, fc.nat(), fc.constantFrom('less', 'more', 'other', 'swapped'), (meant, n, slip) => {
        const at = n % (meant.length - 1);
        const [before, letter, next, after] = [
          meant.slice(0, at),
          meant[at]!,
          meant[at + 1]!,
          meant.slice(at + 2),
        ];
        const typed = {
          less: before + next + after,
          more: `${before}q${letter}${next}${after}`,
          other: `${before}q${next}${after}`,
          swapped: before + next + letter + after,
        }[slip];
        expect(nearestWords(typed, [meant, 'something-else-altogether'])).toEqual([meant]);
      }),
    );
  });
});
