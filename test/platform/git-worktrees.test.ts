import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGitWorktrees, parseWorktrees, type WorktreePlace } from '../../src/platform/git-worktrees.ts';
import { createRunner } from '../../src/platform/process.ts';

let folder: string;
let repo: string;
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
const worktrees = createGitWorktrees({ runner: createRunner(), env: process.env });

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-worktrees-')));
  repo = join(folder, 'my repo');
  mkdirSync(join(repo, 'part'), { recursive: true });
  git('init', '-q', '-b', 'main', repo);
  writeFileSync(join(repo, 'part', 'a.txt'), 'one\n');
  git('-C', repo, 'add', '.');
  git('-C', repo, 'commit', '-qm', 'First');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const LOCAL = ['-c', 'protocol.file.allow=always'];
/** Adds a submodule `lib` to the repository; answers the repository that it comes from. */
function addSubmodule(): string {
  const source = join(folder, 'lib');
  git('init', '-q', '-b', 'main', source);
  writeFileSync(join(source, 'lib.txt'), 'lib\n');
  git('-C', source, 'add', '.');
  git('-C', source, 'commit', '-qm', 'Lib');
  git('-C', repo, ...LOCAL, 'submodule', '--quiet', 'add', `file://${source}`, 'lib');
  git('-C', repo, 'commit', '-qm', 'Use lib');
  return source;
}

describe('a git worktree for one fiber', () => {
  it('is beside the repository, in the same folder of it, on a branch of its own', async () => {
    const place = await worktrees.plan(join(repo, 'part'), 'say-hello-4q7zk2');
    expect(place).toEqual({
      of: join(repo, 'part'),
      path: join(folder, 'my repo.worktrees', 'say-hello-4q7zk2'),
      folder: join(folder, 'my repo.worktrees', 'say-hello-4q7zk2', 'part'),
      branch: 'fiber/say-hello-4q7zk2',
    });
    expect(existsSync(place.path)).toBe(false);
    await worktrees.make(place);
    expect(readFileSync(join(place.folder, 'a.txt'), 'utf8')).toBe('one\n');
    expect(git('-C', place.folder, 'branch', '--show-current').trim()).toBe(place.branch);
    expect(git('-C', repo, 'status', '--porcelain')).toBe('');
  });

  it('is kept as it is where it was made before, with what was changed in it', async () => {
    const place = await worktrees.plan(repo, 'twice');
    await worktrees.make(place);
    writeFileSync(join(place.path, 'new.txt'), 'not committed\n');
    await worktrees.make(place);
    expect(readFileSync(join(place.path, 'new.txt'), 'utf8')).toBe('not committed\n');
  });

  it('is made from a worktree of the same repository as from its main one', async () => {
    const first = await worktrees.plan(repo, 'first');
    await worktrees.make(first);
    const second = await worktrees.plan(first.path, 'second');
    expect(second.path).toBe(join(folder, 'my repo.worktrees', 'second'));
    await worktrees.make(second);
    expect(existsSync(join(second.path, 'part', 'a.txt'))).toBe(true);
  });

  it('comes back with its commits after its folder was deleted by hand', async () => {
    const place = await worktrees.plan(repo, 'gone');
    await worktrees.make(place);
    writeFileSync(join(place.path, 'work.txt'), 'kept\n');
    git('-C', place.path, 'add', '.');
    git('-C', place.path, 'commit', '-qm', 'Work');
    rmSync(place.path, { recursive: true });
    await worktrees.make(place);
    expect(readFileSync(join(place.path, 'work.txt'), 'utf8')).toBe('kept\n');
  });

  it('is not made over a folder that is there already', async () => {
    const place = await worktrees.plan(repo, 'taken');
    mkdirSync(place.path, { recursive: true });
    writeFileSync(join(place.path, 'mine.txt'), 'mine\n');
    await expect(worktrees.make(place)).rejects.toMatchObject({
      code: 'worktree_unavailable',
      message: expect.stringMatching(/already exists/),
    });
    expect(readFileSync(join(place.path, 'mine.txt'), 'utf8')).toBe('mine\n');
  });

  it('is there with a hook that fails after the checkout, whose words are kept', async () => {
    writeFileSync(
      join(repo, '.git', 'hooks', 'post-checkout'),
      '#!/bin/sh\necho "bundle: no such program" >&2\necho "set-up failed" >&2\nexit 2\n',
      { mode: 0o755 },
    );
    const place = await worktrees.plan(repo, 'hooked');
    expect(await worktrees.make(place)).toBe('bundle: no such program; set-up failed');
    expect(readFileSync(join(place.folder, 'part', 'a.txt'), 'utf8')).toBe('one\n');
    expect(await worktrees.make(place)).toBeNull();
  });

  it('is refused with all that was said of a filter that is missing, and leaves nothing behind', async () => {
    writeFileSync(join(repo, '.gitattributes'), '*.bin filter=big\n');
    writeFileSync(join(repo, 'a.bin'), 'x');
    git('-C', repo, 'add', '.');
    git('-C', repo, 'commit', '-qm', 'Big');
    git('-C', repo, 'config', 'filter.big.process', 'no-such-filter-program');
    git('-C', repo, 'config', 'filter.big.required', 'true');
    const place = await worktrees.plan(repo, 'filtered');
    await expect(worktrees.make(place)).rejects.toMatchObject({
      code: 'worktree_unavailable',
      message: expect.stringContaining('no-such-filter-program'),
    });
    expect(existsSync(place.path)).toBe(false);
  });

  describe('with submodules', () => {
    it('has those that the repository has, without their remote', async () => {
      const source = addSubmodule();
      renameSync(source, join(folder, 'away'));
      const place = await worktrees.plan(join(repo, 'part'), 'with-lib');
      await worktrees.make(place);
      const lib = join(place.path, 'lib');
      expect(readFileSync(join(lib, 'lib.txt'), 'utf8')).toBe('lib\n');
      expect(git('-C', lib, 'remote', 'get-url', 'origin').trim()).toBe(`file://${source}`);
      expect(git('-C', repo, 'status', '--porcelain')).toBe('');
      expect(git('-C', place.path, 'status', '--porcelain')).toBe('');
    });

    it('lacks those that the repository lacks', async () => {
      addSubmodule();
      git('-C', repo, 'submodule', '--quiet', 'deinit', '-f', 'lib');
      const place = await worktrees.plan(repo, 'without-lib');
      await worktrees.make(place);
      expect(readdirSync(join(place.path, 'lib'))).toEqual([]);
    });

    it('is refused where one cannot be had, and whole once it can', async () => {
      const source = addSubmodule();
      // A commit that the repository names, and that its own submodule has not fetched.
      writeFileSync(join(source, 'lib.txt'), 'newer\n');
      git('-C', source, 'commit', '-qam', 'Newer');
      const sha = git('-C', source, 'rev-parse', 'HEAD').trim();
      git('-C', repo, 'update-index', '--cacheinfo', `160000,${sha},lib`);
      git('-C', repo, 'commit', '-qm', 'Use newer lib');
      const place = await worktrees.plan(repo, 'newer-lib');
      await expect(worktrees.make(place)).rejects.toMatchObject({
        code: 'worktree_unavailable',
        message: expect.stringMatching(/not make the whole worktree .*lib/),
      });
      expect(existsSync(place.path)).toBe(false);
      git('-C', join(repo, 'lib'), ...LOCAL, 'fetch', '-q', 'origin');
      git('-C', join(repo, 'lib'), 'branch', 'newer', sha);
      await worktrees.make(place);
      expect(readFileSync(join(place.path, 'lib', 'lib.txt'), 'utf8')).toBe('newer\n');
    });
  });

  it('has the ignored files that .worktreeinclude names, and no other, and nothing by a link', async () => {
    const outside = join(folder, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'secret'), 'secret\n');
    for (const [name, text] of [
      ['.gitignore', '.env*\n!.env.example\n*.local\nbuilt/\nlinked\n'],
      ['.worktreeinclude', '# secrets\n.env\n*.local\n!not.local\na.txt\nnew.txt\nlinked\n'],
      ['.env', 'KEY=1\n'],
      ['.env.other', 'KEY=2\n'],
      ['part/b.local', 'b\n'],
      ['not.local', 'not\n'],
      ['new.txt', 'not ignored\n'],
      ['built/out', 'built\n'],
    ] as const) {
      mkdirSync(dirname(join(repo, name)), { recursive: true });
      writeFileSync(join(repo, name), text);
    }
    symlinkSync(outside, join(repo, 'linked'));
    symlinkSync(join(outside, 'secret'), join(repo, 'c.local'));
    const place = await worktrees.plan(repo, 'included');
    await worktrees.make(place);
    const files = readdirSync(place.path, { recursive: true, encoding: 'utf8' }).sort();
    expect(files).toEqual(['.env', '.git', 'part', 'part/a.txt', 'part/b.local']);
    expect(readFileSync(join(place.path, '.env'), 'utf8')).toBe('KEY=1\n');
    writeFileSync(join(place.path, '.env'), 'KEY=changed\n');
    await worktrees.make(place);
    expect(readFileSync(join(place.path, '.env'), 'utf8')).toBe('KEY=changed\n');
  });

  it('is left alone while another process makes it', async () => {
    const place = await worktrees.plan(repo, 'busy');
    await worktrees.make(place);
    git('-C', repo, 'worktree', 'lock', '--reason', 'initializing', place.path);
    await expect(worktrees.make(place)).rejects.toMatchObject({
      code: 'worktree_unavailable',
      message: expect.stringContaining(`git -C '${repo}' worktree remove -f -f '${place.path}'`),
    });
  });

  it.each([
    ['in no repository', () => folder, /is in no git repository/],
    [
      'in a repository without a commit',
      () => {
        const empty = join(folder, 'empty');
        git('init', '-q', empty);
        return empty;
      },
      /has no commit yet/,
    ],
    [
      'in a repository that is kept elsewhere',
      () => {
        const apart = join(folder, 'apart');
        git('init', '-q', `--separate-git-dir=${join(folder, 'store.git')}`, apart);
        return apart;
      },
      /which is not beside its files/,
    ],
    ['that is gone', () => join(folder, 'gone'), /is in no git repository/],
  ])('cannot be made of a folder %s', async (_, of, message) => {
    await expect(worktrees.plan(of(), 'name')).rejects.toMatchObject({
      code: 'worktree_unavailable',
      message: expect.stringMatching(message),
    });
  });
});

describe('a git worktree that is given up', () => {
  it('goes with its branch where nothing was committed', async () => {
    const place = await worktrees.plan(repo, 'unused');
    await worktrees.make(place);
    await worktrees.requireClean(place);
    expect(await worktrees.remove(place)).toEqual({ branch_kept: null });
    expect(existsSync(place.path)).toBe(false);
    expect(git('-C', repo, 'branch', '--list', place.branch)).toBe('');
  });

  it('leaves a branch with commits of its own, and tells how that is deleted', async () => {
    const place = await worktrees.plan(repo, 'worked');
    await worktrees.make(place);
    writeFileSync(join(place.path, 'work.txt'), 'kept\n');
    git('-C', place.path, 'add', '.');
    git('-C', place.path, 'commit', '-qm', 'Work');
    expect(await worktrees.remove(place)).toEqual({
      branch_kept: `git -C '${repo}' branch -D fiber/worked`,
    });
    expect(existsSync(place.path)).toBe(false);
    expect(git('-C', repo, 'show', 'fiber/worked:work.txt')).toBe('kept\n');
  });

  it.each([
    ['an untracked file', (path: string) => writeFileSync(join(path, 'new.txt'), 'x')],
    ['a changed file', (path: string) => writeFileSync(join(path, 'part', 'a.txt'), 'two\n')],
    ['a deleted file', (path: string) => rmSync(join(path, 'part', 'a.txt'))],
  ])('stays with %s', async (_, change) => {
    const place = await worktrees.plan(repo, 'dirty');
    await worktrees.make(place);
    change(place.path);
    await expect(worktrees.requireClean(place)).rejects.toMatchObject({
      code: 'worktree_in_use',
      message: expect.stringMatching(/new\.txt|part\/a\.txt/),
    });
    if (!existsSync(join(place.path, 'part', 'a.txt'))) return;
    await expect(worktrees.remove(place)).rejects.toMatchObject({ code: 'worktree_in_use' });
    expect(existsSync(place.path)).toBe(true);
  });

  it('is gone already where its folder was deleted by hand', async () => {
    const place = await worktrees.plan(repo, 'deleted');
    await worktrees.make(place);
    rmSync(place.path, { recursive: true });
    await worktrees.requireClean(place);
    expect(await worktrees.remove(place)).toEqual({ branch_kept: null });
    expect(git('-C', repo, 'worktree', 'list')).not.toContain('deleted');
  });

  it('is not a worktree that a person has turned to another branch', async () => {
    const place = await worktrees.plan(repo, 'turned');
    await worktrees.make(place);
    git('-C', place.path, 'checkout', '-q', '-b', 'mine');
    await expect(worktrees.remove(place)).rejects.toMatchObject({ code: 'worktree_in_use' });
    expect(existsSync(place.path)).toBe(true);
  });

  describe('with a submodule', () => {
    let place: WorktreePlace;
    let lib: string;
    beforeEach(async () => {
      addSubmodule();
      place = await worktrees.plan(repo, 'with-lib');
      await worktrees.make(place);
      lib = join(place.path, 'lib');
      git('-C', lib, 'config', 'user.name', 'Ada');
      git('-C', lib, 'config', 'user.email', 'ada@example.org');
    });
    const commitInLib = () => {
      writeFileSync(join(lib, 'lib.txt'), 'mended\n');
      git('-C', lib, 'commit', '-qam', 'Mend');
      git('-C', place.path, 'commit', '-qam', 'Mend lib');
    };

    it('goes where all of it is elsewhere', async () => {
      await worktrees.requireClean(place);
      expect(await worktrees.remove(place)).toEqual({ branch_kept: null });
      expect(existsSync(place.path)).toBe(false);
    });

    it.each([
      [
        'a changed file',
        () => writeFileSync(join(lib, 'lib.txt'), 'two\n'),
        /changes that no commit has \(lib\)/,
      ],
      [
        'a new file',
        () => writeFileSync(join(lib, 'new.txt'), 'new\n'),
        /changes that no commit has \(lib\)/,
      ],
      [
        'a stash',
        () => {
          writeFileSync(join(lib, 'lib.txt'), 'two\n');
          git('-C', lib, 'stash');
        },
        /has stashes; apply them or drop them/,
      ],
    ])('stays with %s in that', async (_, change, message) => {
      change();
      for (const ask of [() => worktrees.requireClean(place), () => worktrees.remove(place)])
        await expect(ask()).rejects.toMatchObject({
          code: 'worktree_in_use',
          message: expect.stringMatching(message),
        });
      expect(existsSync(lib)).toBe(true);
    });

    it('stays with a commit that only that has, and goes once the named command has kept it', async () => {
      commitInLib();
      const refused = await worktrees.requireClean(place).catch((error: Error) => error.message);
      expect(refused).toContain(`the submodule ${lib} has commits that nothing else has`);
      const command = /with: (git .+), then ask again$/.exec(String(refused))?.[1];
      execFileSync('/bin/sh', ['-c', command!], { stdio: 'ignore' });
      const sha = git('-C', lib, 'rev-parse', 'HEAD').trim();
      await worktrees.requireClean(place);
      await worktrees.remove(place);
      expect(existsSync(place.path)).toBe(false);
      expect(git('-C', join(repo, 'lib'), 'show', `${sha}:lib.txt`)).toBe('mended\n');
    });

    it('goes where its commits were pushed', async () => {
      commitInLib();
      git('-C', lib, 'push', '-q', 'origin', 'HEAD:refs/heads/mended');
      await worktrees.remove(place);
      expect(existsSync(place.path)).toBe(false);
    });
  });

  it('is not told to be removed where git cannot list the worktrees', async () => {
    const place = await worktrees.plan(repo, 'unlisted');
    await worktrees.make(place);
    renameSync(join(repo, '.git', 'HEAD'), join(repo, '.git', 'NO-HEAD'));
    await expect(worktrees.remove(place)).rejects.toMatchObject({
      code: 'worktree_in_use',
      message: expect.stringMatching(/cannot list the worktrees/),
    });
    expect(existsSync(place.path)).toBe(true);
  });

  it('is never the repository itself', async () => {
    await expect(worktrees.remove({ of: repo, path: repo, branch: 'main' })).rejects.toMatchObject({
      code: 'worktree_in_use',
    });
    expect(existsSync(join(repo, 'part', 'a.txt'))).toBe(true);
  });
});

it('reads the list of worktrees as Git prints it', () => {
  const text = [
    'worktree /srv/repo\nHEAD 1111\nbranch refs/heads/main\n',
    'worktree /srv/repo.worktrees/a\nHEAD 2222\nbranch refs/heads/fiber/a\nlocked initializing\n',
    'worktree /srv/other\nHEAD 3333\ndetached\n',
    '',
  ].join('\n');
  expect(parseWorktrees(text)).toEqual([
    { path: '/srv/repo', branch: 'main', locked: false },
    { path: '/srv/repo.worktrees/a', branch: 'fiber/a', locked: true },
    { path: '/srv/other', branch: null, locked: false },
  ]);
  expect(parseWorktrees('')).toEqual([]);
});
