import { describe, expect, it } from 'vitest';
import {
  changedFiles,
  showsUncommitted,
  uncommittedSum,
  uncommittedWords,
} from '../../../board/src/model/uncommitted.ts';
import type { PatchFile, Uncommitted } from '../../../board/src/model/wire.ts';
import { live, row } from './rows.ts';

const file = (over: Partial<PatchFile> = {}): PatchFile => ({
  ...{ path: 'a', old_path: null, change: 'modified', additions: 2, deletions: 1, binary: false },
  hunks: [],
  ...over,
});
const binary = file({ path: 'b', additions: null, deletions: null, binary: true });
const read = (over: Partial<Extract<Uncommitted['work'], { state: 'read' }>> = {}): Uncommitted => ({
  ...{ host: 'birch', fiber_id: 'work/loader', uid: null, folder: '/srv/app' },
  work: {
    state: 'read',
    ...{ repo: '/srv/app', branch: 'main', files: [], untracked: [], truncated: false },
    ...over,
  },
});
const not = (
  state: 'no_folder' | 'folder_missing' | 'no_repository',
  detail = 'fatal: not a git repository',
): Uncommitted => ({ ...read(), work: { state, detail } });
const own = { svc: { worktree: 'fiber/loader' } };

describe('what lies uncommitted in the folder of a fiber', () => {
  it.each([
    ['a worker that runs', row({ status: 'active', runtime: live() }), true],
    ['a fiber that awaits review', row({ status: 'closed' }), true],
    ['an accepted fiber', row({ status: 'closed', tempered: true }), false],
    ['a draft', row({ status: 'open' }), false],
  ])('is shown or not of %s', (_, of, shown) => {
    expect(showsUncommitted(of)).toBe(shown);
  });

  it.each<[Uncommitted, Parameters<typeof uncommittedWords>[1], string]>([
    [read(), {}, 'Nothing uncommitted on branch main.'],
    [read({ branch: 'fiber/loader' }), own, 'Nothing uncommitted on its own branch fiber/loader.'],
    [read({ files: [file()] }), own, 'Not committed yet on branch main.'],
    [read({ branch: null, untracked: ['a'] }), {}, 'Not committed yet on no branch.'],
    [
      read({ untracked: ['a'] }),
      { shares_folder_with: ['work/parser', 'work/lexer'] },
      'Not committed yet on branch main. Some of it may be the work of work/parser, work/lexer.',
    ],
    [not('no_folder'), {}, 'It has no folder.'],
    [not('folder_missing'), {}, 'Its folder /srv/app does not exist on birch.'],
    [not('no_repository'), {}, 'Its folder /srv/app is not in a Git repository.'],
    [
      not('no_repository', 'its settings name too many filters'),
      {},
      'Its folder /srv/app is not in a Git repository that can be read: its settings name too many filters.',
    ],
  ])('is told in a sentence, or why it cannot be told: %#', (told, of, words) => {
    expect(uncommittedWords(told, of)).toBe(words);
  });

  it.each<[Uncommitted, string | null]>([
    [read(), null],
    [not('no_folder'), null],
    [read({ files: [file(), binary] }), '2 files, +2 −1'],
    [read({ files: [file()], untracked: ['c', 'd/'] }), '1 file, +2 −1, 2 untracked'],
    [read({ untracked: ['c'] }), '1 untracked'],
  ])('is summed up: %#', (told, sum) => {
    expect(uncommittedSum(told)).toBe(sum);
  });

  it('is listed file by file, those that Git does not know last', () => {
    const files = [
      file(),
      file({ path: 'n', change: 'added', additions: 3, deletions: 0 }),
      file({ path: 'r', change: 'renamed', old_path: 'o', additions: 0, deletions: 0 }),
      file({ path: 'mode', additions: 0, deletions: 0 }),
      binary,
    ];
    expect(changedFiles(read({ files, untracked: ['d/'] }).work)).toEqual([
      { path: 'a', words: '+2 −1' },
      { path: 'n', words: 'new, +3 −0' },
      { path: 'r', words: 'was o' },
      { path: 'mode', words: 'no line changed' },
      { path: 'b', words: 'binary' },
      { path: 'd/', words: 'untracked' },
    ]);
    expect(changedFiles(not('folder_missing').work)).toEqual([]);
  });
});
