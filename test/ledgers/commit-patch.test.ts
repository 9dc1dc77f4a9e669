import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PatchFile } from '../../src/contract/http/commit-patch.ts';
import { parsePatch } from '../../src/ledgers/commit-patch.ts';
import { showCommit } from '../../src/ledgers/show-commit.ts';
import { createRunner, type ProcessResult } from '../../src/platform/process.ts';
import { makeRepository, type Repository } from '../fixtures/repository.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

const HEAD = 'Ada\0ada@example.org\x001700000000\0Say hello\n\nOnce.\n\0\n';
const raw = (letter: string, ...paths: string[]) => `:100644 100644 aaa bbb ${letter}\0${paths.join('\0')}\0`;
const section = (path: string, ...lines: string[]) =>
  [`diff --git a/${path} b/${path}`, 'index aaa..bbb 100644', ...lines, ''].join('\n');
const file = (path: string, over: Partial<PatchFile> = {}): PatchFile => ({
  ...{ path, old_path: null, change: 'modified', additions: 1, deletions: 1, binary: false, hunks: [] },
  ...over,
});
const hunk = (lines: string[], over: object = {}) => ({
  ...{ old_start: 1, new_start: 1, heading: '', lines },
  ...over,
});

describe('what git printed of a commit', () => {
  it.each<[string, string, PatchFile[]]>([
    ['nothing that changed', HEAD.slice(0, -1), []],
    [
      'a changed line',
      `${HEAD}${raw('M', 'a.ts')}1\t1\ta.ts\0\0${section('a.ts', '@@ -4,2 +4,2 @@ function a() {', '-b', '+c', ' d')}`,
      [
        file('a.ts', {
          hunks: [hunk(['-b', '+c', ' d'], { old_start: 4, new_start: 4, heading: 'function a() {' })],
        }),
      ],
    ],
    [
      'lines that look like those of a head',
      `${HEAD}${raw('M', 'a')}1\t1\ta\0\0${section('a', '--- a/a', '+++ b/a', '@@ -1,2 +1,2 @@', '--- x', '+++ y', ' diff --git a/q b/q')}`,
      [file('a', { hunks: [hunk(['--- x', '+++ y', ' diff --git a/q b/q'])] })],
    ],
    [
      'a missing end of line on both sides',
      `${HEAD}${raw('M', 'a')}1\t1\ta\0\0${section('a', '@@ -1 +1 @@', '-b', '\\ No newline at end of file', '+c', '\\ No newline at end of file')}`,
      [
        file('a', {
          hunks: [hunk(['-b', '\\ No newline at end of file', '+c', '\\ No newline at end of file'])],
        }),
      ],
    ],
    [
      'an empty line that some settings print without its space',
      `${HEAD}${raw('M', 'a')}1\t0\ta\0\0${section('a', '@@ -1,2 +1,3 @@', ' b', '', '+c')}`,
      [file('a', { deletions: 0, hunks: [hunk([' b', ' ', '+c'])] })],
    ],
    [
      'a renamed file, a binary one and a new one',
      `${HEAD}${raw('R090', 'old', 'new\t1')}${raw('M', 'pic')}${raw('A', 'n')}0\t0\t\0old\0new\t1\0-\t-\tpic\x002\t0\tn\0\0${section('x')}${section('pic', 'Binary files a/pic and b/pic differ')}${section('n', '@@ -0,0 +1,2 @@', '+a', '+b')}`,
      [
        file('new\t1', { old_path: 'old', change: 'renamed', additions: 0, deletions: 0 }),
        file('pic', { additions: null, deletions: null, binary: true }),
        file('n', {
          ...{ change: 'added', additions: 2, deletions: 0 },
          hunks: [hunk(['+a', '+b'], { old_start: 0 })],
        }),
      ],
    ],
    [
      'a link that became a file, which is printed as two files',
      `${HEAD}${raw('T', 'l')}${raw('M', 'm')}1\t1\tl\x001\t1\tm\0\0${section('l', '@@ -1 +0,0 @@', '-to')}${section('l', '@@ -0,0 +1 @@', '+x')}${section('m', '@@ -1 +1 @@', '-y', '+z')}`,
      [
        file('l', {
          hunks: [hunk(['-to'], { new_start: 0 }), hunk(['+x'], { old_start: 0 })],
        }),
        file('m', { hunks: [hunk(['-y', '+z'])] }),
      ],
    ],
  ])('is read with %s', (_, printed, files) => {
    expect(parsePatch(printed, false)).toEqual({
      message: 'Say hello\n\nOnce.',
      author: { name: 'Ada', email: 'ada@example.org' },
      committed_at: 1_700_000_000_000,
      files,
      truncated: false,
    });
  });

  it('is null where even its head is missing', () => {
    expect([
      parsePatch('', false),
      parsePatch(HEAD.slice(0, 20), true),
      parsePatch('a\0b\0c\0d\0', false),
    ]).toEqual([null, null, null]);
  });

  it('is truncated where a file or a line of a hunk is missing, also if git was not cut short', () => {
    const whole = `${HEAD}${raw('M', 'a')}${raw('M', 'b')}1\t1\ta\x001\t1\tb\0\0${section('a', '@@ -1 +1 @@', '-b', '+c')}`;
    expect(parsePatch(whole, false)).toMatchObject({
      truncated: true,
      files: [{ path: 'a' }, { path: 'b' }],
    });
    const part = `${HEAD}${raw('M', 'a')}1\t1\ta\0\0${section('a', '@@ -1,2 +1,2 @@', '-b', '+c')}`;
    expect(parsePatch(part, false)).toMatchObject({ truncated: true });
  });

  it('is read from any beginning of it, with lines that it has and none that it has not', () => {
    const lines = fc.array(fc.tuple(fc.constantFrom('+', '-', ' '), fc.string()), { minLength: 1 });
    const property = fc.property(lines, fc.nat(), (content, cut) => {
      const told = content.map(([sign, text]) => `${sign}${text.replaceAll(/[\n\0]/g, '')}`);
      const count = (signs: string) => told.filter((line) => signs.includes(line[0]!)).length;
      const printed = `${HEAD}${raw('M', 'a')}${count('+')}\t${count('-')}\ta\0\0${section('a', `@@ -1,${count('- ')} +1,${count('+ ')} @@`, ...told)}`;
      const whole = parsePatch(printed, false);
      expect([whole?.truncated, whole?.files[0]?.hunks[0]?.lines]).toEqual([false, told]);
      const part = parsePatch(printed.slice(0, cut % printed.length), true);
      expect(part?.truncated ?? true).toBe(true);
      const read = part?.files[0]?.hunks[0]?.lines ?? [];
      expect(read).toEqual(told.slice(0, read.length));
    });
    fc.assert(property);
  });

  it('never throws, whatever was printed', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'\0\n\t:+-@ 1MRA'.split(''), 'diff --git ') }),
        (text) => {
          parsePatch(HEAD + text, true);
          parsePatch(text, false);
        },
      ),
    );
  });
});

describe('a commit of a repository', () => {
  let scratch: ScratchFolder;
  let repository: Repository;
  beforeEach(() => {
    scratch = scratchFolder();
    repository = makeRepository(join(scratch.path, 'repo'));
  });
  afterEach(() => scratch.remove());

  const show = (sha: string, env: NodeJS.ProcessEnv = {}) =>
    showCommit({ repo: repository.path, sha }, createRunner(), { ...process.env, ...env });
  const write = (name: string, text: string) => scratch.write(`repo/${name}`, text, 0o644);
  const place = (name: string) => join(repository.path, name);

  it('[TMP-3] is told with its files as they were named, changed, renamed and deleted', async () => {
    write('gone.txt', 'one\n');
    write('old name.txt', 'a\nb\nc\nd\n');
    write('ä "x"\t.txt', 'a\nb\nc\n');
    write('picture.png', '\0\x01');
    symlinkSync('gone.txt', place('link'));
    const first = repository.commit('Begin');
    unlinkSync(place('gone.txt'));
    renameSync(place('old name.txt'), place('new name.txt'));
    write('ä "x"\t.txt', 'a\nB\nc');
    write('picture.png', '\0\x02');
    unlinkSync(place('link'));
    write('link', 'a file\n');
    write('run.sh', '#!/bin/sh\n');
    chmodSync(place('run.sh'), 0o755);
    write('empty', '');
    const second = repository.commit('Move on\n\nWith a reason.');

    const patch = await show(second);
    expect(patch).toMatchObject({
      message: 'Move on\n\nWith a reason.',
      author: { name: 'Ada Lovelace', email: 'ada@example.org' },
      committed_at: Number(repository.git('show', '--no-patch', '--format=%ct', second)) * 1_000,
      truncated: false,
    });
    expect(
      patch.files.map(({ path, old_path, change, additions, deletions, binary }) => [
        ...[path, old_path, change, additions, deletions, binary],
      ]),
    ).toEqual([
      ['empty', null, 'added', 0, 0, false],
      ['gone.txt', null, 'deleted', 0, 1, false],
      ['link', null, 'modified', 1, 1, false],
      ['new name.txt', 'old name.txt', 'renamed', 0, 0, false],
      ['picture.png', null, 'modified', null, null, true],
      ['run.sh', null, 'added', 1, 0, false],
      ['ä "x"\t.txt', null, 'modified', 2, 2, false],
    ]);
    expect(patch.files.at(-1)?.hunks).toEqual([
      hunk([' a', '-b', '-c', '+B', '+c', '\\ No newline at end of file']),
    ]);
    expect((await show(first)).files.map(({ change }) => change)).toEqual(Array(5).fill('added'));
    expect(await show(repository.commit('Nothing'))).toMatchObject({ files: [], truncated: false });
  });

  it('is told of a merge against its first parent', async () => {
    write('a', 'a\n');
    repository.commit('Begin');
    repository.git('checkout', '--quiet', '-b', 'side');
    write('b', 'b\n');
    repository.commit('Aside');
    repository.git('checkout', '--quiet', 'main');
    write('c', 'c\n');
    repository.commit('Ahead');
    repository.git('merge', '--quiet', '--no-edit', 'side');
    expect((await show(repository.git('rev-parse', 'HEAD'))).files.map(({ path }) => path)).toEqual(['b']);
  });

  it('ends after its limit, and says so', async () => {
    write('long', 'a line of some length\n'.repeat(40_000));
    write('wide', `${'x'.repeat(5_000)}\n`);
    const patch = await show(repository.commit('Much'));
    expect(patch.truncated).toBe(true);
    expect(patch.files.map(({ path, additions }) => [path, additions])).toEqual([
      ['long', 40_000],
      ['wide', 1],
    ]);
    expect(patch.files[0]?.hunks[0]?.lines.length).toBeGreaterThan(20_000);
    expect(patch.files[1]?.hunks).toEqual([]);
  });

  it('runs nothing that the repository or the environment names, and shows what is committed', async () => {
    const trap = scratch.write('trap.sh', `#!/bin/sh\ntouch ${scratch.path}/sprung\n`, 0o755);
    write('.gitattributes', '*.txt diff=trap\n');
    write('a.txt', 'a\n');
    const sha = repository.commit('Begin');
    for (const name of [
      ...['diff.external', 'diff.trap.command', 'diff.trap.textconv', 'core.pager', 'core.fsmonitor'],
      ...['pager.show', 'gpg.program', 'core.sshCommand', 'core.editor', 'core.askPass'],
    ])
      repository.git('config', name, trap);
    for (const [name, value] of [
      ...[
        ['log.showSignature', 'true'],
        ['color.ui', 'always'],
        ['diff.noprefix', 'true'],
      ],
      ...[
        ['diff.submodule', 'log'],
        ['log.showRoot', 'false'],
        ['diff.context', '0'],
      ],
    ] as const)
      repository.git('config', name, value);
    const elsewhere = makeRepository(join(scratch.path, 'elsewhere')).path;
    const patch = await show(sha, {
      ...{ GIT_DIR: join(elsewhere, '.git'), GIT_EXTERNAL_DIFF: trap, GIT_PAGER: trap, PAGER: trap },
      ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'diff.external', GIT_CONFIG_VALUE_0: trap },
    });
    expect(patch.files.map(({ path, additions }) => [path, additions])).toEqual([
      ['.gitattributes', 1],
      ['a.txt', 1],
    ]);
    expect(patch.files[1]?.hunks[0]?.lines).toEqual(['+a']);
    expect(existsSync(join(scratch.path, 'sprung'))).toBe(false);
  });

  it('fetches nothing for a repository that has only a part of its objects', async () => {
    write('a', 'a\n');
    const sha = repository.commit('Begin');
    const partial = join(scratch.path, 'partial');
    repository.git('config', 'uploadpack.allowFilter', 'true');
    execFileSync('git', [
      ...['clone', '--quiet', '--no-checkout', '--filter=blob:none', `file://${repository.path}`, partial],
    ]);
    const refused = showCommit({ repo: partial, sha }, createRunner(), process.env);
    await expect(refused).rejects.toMatchObject({ code: 'not_found' });
  });

  it('that is gone, or whose repository is, is refused with the words of git', async () => {
    const sha = repository.commit('Begin');
    const other = 'f'.repeat(40);
    await expect(show(other)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/^Git cannot show ffffffffffff of .*repo: fatal: .*f{40}.*look for it/),
    });
    await expect(
      showCommit({ repo: scratch.mkdir('none'), sha }, createRunner(), process.env),
    ).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining('not a git repository') });
  });

  it.each<[string, ProcessResult, string, RegExp]>([
    ['takes too long', { kind: 'timed_out' }, 'deadline_exceeded', /longer than 5 seconds/],
    ['is not installed', { kind: 'not_started', code: 'ENOENT' }, 'file_unavailable', /ENOENT.*svc doctor/],
    [
      'is killed',
      { kind: 'signalled', signal: 'SIGKILL', stdout: '', stderr: '' },
      ...(['file_unavailable', /ended/] as const),
    ],
    [
      'prints something else',
      { kind: 'exited', code: 0, stdout: 'hello', stderr: '' },
      ...(['file_unavailable', /update git/] as const),
    ],
  ])('is refused with the fix if git %s', async (_, result, code, message) => {
    const refused = showCommit({ repo: '/r', sha: 'a'.repeat(40) }, { run: async () => result }, {});
    await expect(refused).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });
});
