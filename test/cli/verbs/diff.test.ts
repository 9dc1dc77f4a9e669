import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatMoment } from '../../../src/cli/command-line/output.ts';
import { uncommittedPage } from '../../../src/cli/verbs/diff/diff-page.ts';
import { patchText } from '../../../src/cli/verbs/diff/patch-text.ts';
import type { PatchFile } from '../../../src/contract/http/commit-patch.ts';
import type { LifeCommit } from '../../../src/contract/http/life.ts';
import type { Uncommitted } from '../../../src/contract/http/uncommitted.ts';
import { fiberAnswer } from '../answers.ts';
import { createMachine, type Machine, serveDaemon } from '../kit.ts';

let machine: Machine;
beforeEach(() => {
  machine = createMachine();
});
afterEach(() => machine.remove());

const uid = fiberAnswer().uid!;
const AT = Date.UTC(2026, 10, 24, 12);
const commit = (nth: number, over: Partial<LifeCommit> = {}): LifeCommit => ({
  ...{ at: AT, kind: 'commit', session: 's', sha: String(nth).repeat(40), subject: `Step ${nth}` },
  ...{ repo: '/srv/dev', files: 2, insertions: 12, deletions: 3, ...over },
});
const file = (over: Partial<PatchFile> = {}): PatchFile => ({
  ...{ path: 'a.ts', old_path: null, change: 'modified', additions: 1, deletions: 1, binary: false },
  hunks: [{ old_start: 4, new_start: 4, heading: 'main()', lines: [' x', '-one', '+two', '\\ No newline'] }],
  ...over,
});
const WORK: Uncommitted = {
  ...{ host: 'host-a', fiber_id: 'work/loader', uid, folder: '/srv/dev' },
  work: {
    ...{ state: 'read', repo: '/srv/dev', branch: 'main', truncated: false, untracked: ['notes/'] },
    files: [
      file(),
      file({ path: 'new.ts', old_path: 'old.ts', change: 'renamed', additions: 0, deletions: 0 }),
    ],
  },
};
const life = (entries: LifeCommit[], earlier = 0) => ({ body: { host: 'host-a', uid, entries, earlier } });

describe('svc diff', () => {
  it('shows the newest commits, from as many answers as it takes, and what is not committed', async () => {
    await serveDaemon(machine, {
      'GET /uncommitted?fiber=work%2Floader': { body: WORK },
      [`GET /fiber-life?uid=${uid}&limit=1000`]: life([commit(2), commit(3)], 1),
      [`GET /fiber-life?uid=${uid}&limit=1000&before_ms=${AT}`]: life([commit(1, { repo: '/srv/other' })]),
    });
    const when = formatMoment(AT, Date.now());
    const { code, out } = await machine.svc('diff', 'work/loader');
    expect(code).toBe(0);
    expect(out).toBe(
      [
        `11111111\tStep 1\t2\t+12 -3\t${when}\t/srv/other`,
        `22222222\tStep 2\t2\t+12 -3\t${when}\t/srv/dev`,
        `33333333\tStep 3\t2\t+12 -3\t${when}\t/srv/dev`,
        '',
        'Not committed in /srv/dev (branch main):',
        '  modified  a.ts              +1 -1',
        '  renamed   old.ts -> new.ts  +0 -0',
        '  new       notes/',
        '',
      ].join('\n'),
    );
    const { out: two } = await machine.svc('diff', 'work/loader', '-n', '2', '--json');
    expect(JSON.parse(two).commits).toMatchObject([{ subject: 'Step 2' }, { subject: 'Step 3' }]);
  });

  it('shows the lines with --patch, and says which commit cannot be shown any more', async () => {
    const shown = { files: [file()], truncated: false, message: 'm', author: { name: 'a', email: 'e' } };
    await serveDaemon(machine, {
      'GET /uncommitted?fiber=work%2Floader&patch=1': { body: WORK },
      [`GET /fiber-life?uid=${uid}&limit=1000`]: life([commit(1), commit(2)]),
      [`GET /commits/patch?sha=${'1'.repeat(40)}`]: {
        status: 404,
        body: { error: 'not_found', message: 'the folder is gone' },
      },
      [`GET /commits/patch?sha=${'2'.repeat(40)}`]: {
        body: { ...shown, committed_at: AT, host: 'host-a', sha: '2'.repeat(40), repo: '/srv/dev' },
      },
    });
    const { out } = await machine.svc('diff', 'work/loader', '--patch');
    expect(out).toContain(
      `commit ${'1'.repeat(40)}\n  Step 1\n  ${formatMoment(AT, Date.now())} in /srv/dev\n  the folder is gone\n`,
    );
    expect(out.match(/@@ -4,2 \+4,2 @@ main\(\)\n x\n-one\n\+two\n\\ No newline\n/g)).toHaveLength(3);
    const { out: json } = await machine.svc('diff', 'work/loader', '--patch', '--json');
    expect(JSON.parse(json).commits).toMatchObject([
      { changes: { files: null, fault: 'the folder is gone' } },
      { changes: { files: [{ path: 'a.ts' }], fault: null } },
    ]);
  });

  it.each([
    [{ state: 'no_folder', detail: '' }, 'svc reshape work/loader --project-dir'],
    [{ state: 'folder_missing', detail: '' }, '/srv/dev does not exist on host-a'],
    [{ state: 'no_repository', detail: 'fatal: no' }, 'not in a Git repository (fatal: no)'],
    [
      { ...WORK.work, files: [], untracked: [], branch: null },
      'Nothing is uncommitted in /srv/dev (no branch)',
    ],
  ])('says plainly that there is nothing to compare: %o', (work, words) => {
    expect(uncommittedPage({ ...WORK, work } as Uncommitted)).toContain(words);
  });
});

describe('a patch as text', () => {
  it('names what was added, deleted, renamed and binary, and what is left out', () => {
    const hunks: PatchFile['hunks'] = [];
    expect(
      patchText(
        [
          file({ change: 'added', path: 'n', hunks }),
          file({ change: 'renamed', path: 'n', old_path: 'o', hunks }),
          file({ change: 'deleted', path: 'd', binary: true, hunks }),
        ],
        true,
      ),
    ).toBe(
      [
        'diff --git a/n b/n',
        'diff --git a/o b/n',
        'rename from o',
        'rename to n',
        'diff --git a/d b/d',
        'Binary files a/d and /dev/null differ',
        '(there is more than what is shown)',
        '',
      ].join('\n'),
    );
  });
});
