import { describe, expect, it } from 'vitest';
import {
  changeWords,
  lengthOf,
  messageParts,
  numberedLines,
  openAtFirst,
  sumText,
} from '../../../board/src/model/patch.ts';
import type { PatchFile } from '../../../board/src/model/wire.ts';

const hunk = (...lines: string[]) => ({ old_start: 7, new_start: 9, heading: '', lines });
const file = (over: Partial<PatchFile> = {}): PatchFile => ({
  ...{ path: 'a', old_path: null, change: 'modified', additions: 1, deletions: 1, binary: false },
  hunks: [hunk('-a', '+b')],
  ...over,
});
const long = (lines: number) => file({ hunks: [hunk(...Array<string>(lines).fill('+a'))] });

describe('a commit', () => {
  it('is called by the first line of its message, or else by its name', () => {
    const sha = '0123456789abcdef';
    expect(messageParts({ message: 'Keep gaps\n\nThey count.\nAll of them.', sha })).toEqual([
      'Keep gaps',
      'They count.\nAll of them.',
    ]);
    expect(messageParts({ message: '', sha })).toEqual(['Commit 0123456789ab', '']);
  });

  it.each([
    [[], 'No file changed'],
    [[file()], '1 file, +1 −1'],
    [[file({ additions: 12 }), file({ additions: null, deletions: null, binary: true })], '2 files, +12 −1'],
  ])('is summed up', (files, text) => {
    expect(sumText(files)).toBe(text);
  });

  it.each<[Partial<PatchFile>, string]>([
    [{}, ''],
    [{ change: 'added' }, 'new'],
    [{ change: 'deleted' }, 'deleted'],
    [{ change: 'renamed', old_path: 'b', hunks: [] }, 'was b'],
    [{ change: 'copied', old_path: 'b' }, 'copy of b'],
    [{ change: 'added', binary: true, hunks: [] }, 'new, binary'],
    [{ binary: true, hunks: [] }, 'binary'],
    [{ additions: 0, deletions: 0, hunks: [] }, 'no line changed'],
    [{ hunks: [] }, ''],
  ])('says of a file what its lines do not: %j', (over, words) => {
    expect(changeWords(file(over))).toBe(words);
  });

  it('numbers the lines of a hunk as they were and as they are', () => {
    const lines = hunk(' a', '-b', '+c', '+', '\\ No newline at end of file', ' d');
    expect(
      numberedLines(lines, 9).map(({ kind, before, after, text }) => [kind, before, after, text]),
    ).toEqual([
      ['same', 7, 9, 'a'],
      ['removed', 8, null, 'b'],
      ['added', null, 10, 'c'],
      ['added', null, 11, ''],
      ['remark', null, null, 'No newline at end of file'],
      ['same', 9, 12, 'd'],
    ]);
    expect(numberedLines(lines, 2)).toHaveLength(2);
    expect(numberedLines(lines, -1)).toEqual([]);
  });

  it('has so many files open at first that their lines can be drawn at once', () => {
    const files = [long(400), long(1_000), long(1_000), long(1_000), long(3)];
    expect(openAtFirst(files)).toEqual([true, true, true, false, false]);
    expect(openAtFirst([long(90_000)])).toEqual([true]);
    expect(lengthOf(long(3))).toBe(3);
  });
});
