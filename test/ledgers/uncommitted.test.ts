import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emptied, parseStatus, readUncommitted } from '../../src/ledgers/uncommitted.ts';
import { createRunner, type ProcessResult } from '../../src/platform/process.ts';
import { makeRepository, type Repository } from '../fixtures/repository.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

let scratch: ScratchFolder;
let repository: Repository;
beforeEach(() => {
  scratch = scratchFolder();
  repository = makeRepository(join(scratch.path, 'repo'));
});
afterEach(() => scratch.remove());

const write = (name: string, text: string) => scratch.write(`repo/${name}`, text, 0o644);
const place = (name: string) => join(repository.path, name);
const read = (patch = false, folder = repository.path) =>
  readUncommitted({ folder, patch }, createRunner(), process.env);

describe('what no commit has', () => {
  it('is told by file, with what is staged, what is not, and what Git does not know', async () => {
    write('a.txt', 'one\ntwo\n');
    write('old.txt', 'a\nb\nc\nd\n');
    write('gone.txt', 'x\n');
    write('staged.txt', 'x\n');
    repository.commit('Begin');
    write('a.txt', 'one\nthree\nfour\n');
    write('staged.txt', 'x\ny\n');
    renameSync(place('old.txt'), place('new.txt'));
    unlinkSync(place('gone.txt'));
    repository.git('add', '--all');
    write('notes/ä "x"\t.md', 'n\n');
    write('.gitignore', 'ignored\n');
    write('ignored', 'x\n');
    const work = await read();
    expect(work).toEqual({
      ...{ state: 'read', repo: repository.path, branch: 'main', truncated: false },
      files: [
        ['a.txt', null, 'modified', 2, 1],
        ['gone.txt', null, 'deleted', 0, 1],
        ['new.txt', 'old.txt', 'renamed', 0, 0],
        ['staged.txt', null, 'modified', 1, 0],
      ].map(([path, old_path, change, additions, deletions]) => ({
        ...{ path, old_path, change, additions, deletions, binary: false, hunks: [] },
      })),
      untracked: ['.gitignore', 'notes/'],
    });
    expect(await read(true)).toMatchObject({
      files: [{ hunks: [{ lines: [' one', '-two', '+three', '+four'] }] }, {}, {}, {}],
      truncated: false,
    });
  });

  it('is that of one folder, and of a repository without a commit', async () => {
    write('part/a.txt', 'a\n');
    write('b.txt', 'b\n');
    repository.git('add', '--all');
    expect(await read()).toMatchObject({
      branch: 'main',
      files: [{ path: 'b.txt' }, { path: 'part/a.txt' }],
    });
    expect(await read(true, place('part'))).toMatchObject({
      repo: repository.path,
      files: [{ path: 'part/a.txt', change: 'added', hunks: [{ lines: ['+a'] }] }],
    });
  });

  it('is nothing in a clean tree, and names no branch where none is checked out', async () => {
    write('a.txt', 'a\n');
    const sha = repository.commit('Begin');
    expect(await read(true)).toMatchObject({ files: [], untracked: [], truncated: false });
    repository.git('checkout', '--quiet', '--detach', sha);
    expect(await read()).toMatchObject({ branch: null });
  });

  it('tells a file in conflict, whose text is on nobody’s side', async () => {
    write('a.txt', 'a\n');
    repository.commit('Begin');
    repository.git('checkout', '--quiet', '-b', 'other');
    write('a.txt', 'b\n');
    repository.commit('Other');
    repository.git('checkout', '--quiet', 'main');
    write('a.txt', 'c\n');
    repository.commit('Main');
    expect(() => repository.git('merge', 'other')).toThrow();
    const work = await read(true);
    expect(work).toMatchObject({ state: 'read', truncated: false });
    expect('files' in work && work.files.map(({ path }) => path)).toContain('a.txt');
  });

  it('[P18] starts nothing that the repository names, and writes nothing to it', async () => {
    const marker = join(scratch.path, 'ran');
    const trap = scratch.write('trap.sh', `#!/bin/sh\necho "$0 $*" >> ${marker}\ncat\n`, 0o755);
    write('a.txt', 'one\n');
    write('b.txt', 'one\n');
    write('.gitattributes', 'a.txt filter=evil diff=evil\nb.txt filter=x=y\n');
    repository.commit('Begin');
    const set = (name: string, value: string) => repository.git('config', name, value);
    set('core.fsmonitor', trap);
    set('core.hooksPath', join(scratch.path, 'hooks'));
    scratch.write('hooks/post-index-change', readFileSync(trap, 'utf8'), 0o755);
    set('core.pager', trap);
    set('pager.diff', trap);
    set('diff.external', trap);
    set('diff.evil.command', trap);
    set('diff.evil.textconv', trap);
    for (const name of ['evil', 'x=y']) {
      appendFileSync(
        place('.git/config'),
        `[filter "${name}"]\n\tclean = ${trap} clean\n\tprocess = ${trap} process\n\trequired = true\n`,
      );
    }
    write('a.txt', 'two\n');
    write('b.txt', 'two\n');
    const before = statSync(place('.git/index'));
    expect(await read(true)).toMatchObject({
      files: [
        { path: 'a.txt', hunks: [{ lines: ['-one', '+two'] }] },
        { path: 'b.txt', hunks: [{ lines: ['-one', '+two'] }] },
      ],
    });
    expect(existsSync(marker)).toBe(false);
    const after = statSync(place('.git/index'));
    expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs]);
    expect(existsSync(place('.git/index.lock'))).toBe(false);
    // The trap would have been sprung without the care that is taken.
    expect(() => repository.git('status', '--porcelain')).toThrow('clean filter');
    expect(existsSync(marker)).toBe(true);
  });

  it('does not follow a link out of the tree, and says what is no repository', async () => {
    scratch.write('secret', 'secret\n');
    write('a.txt', 'a\n');
    repository.commit('Begin');
    unlinkSync(place('a.txt'));
    symlinkSync(join(scratch.path, 'secret'), place('a.txt'));
    expect(JSON.stringify(await read(true))).not.toContain('+secret\\n');
    expect(await read(false, scratch.mkdir('plain'))).toEqual({
      state: 'no_repository',
      detail: expect.stringContaining('not a git repository'),
    });
  });

  it.each<[string, ProcessResult, string]>([
    ['takes too long', { kind: 'timed_out' }, 'deadline_exceeded'],
    ['is not installed', { kind: 'not_started', code: 'ENOENT' }, 'file_unavailable'],
    ['is ended', { kind: 'signalled', signal: 'SIGTERM', stdout: '', stderr: '' }, 'file_unavailable'],
  ])('is refused where Git %s', async (_, result, code) => {
    const asked = readUncommitted({ folder: '/r', patch: false }, { run: async () => result }, {});
    await expect(asked).rejects.toMatchObject({ code });
  });
});

describe('what Git prints', () => {
  it('of the state of a tree is read up to where it is cut', () => {
    const printed =
      '# branch.oid abc\0# branch.head feature/x\x001 M. N... 100644 100644 100644 a b ? a.txt\0? new file\0? cut';
    expect(parseStatus(printed)).toEqual({ branch: 'feature/x', untracked: ['new file'], is_born: true });
    expect(parseStatus('# branch.oid (initial)\0# branch.head main\0')).toMatchObject({ is_born: false });
    expect(parseStatus('# branch.oid a\0# branch.head (detached)\0')).toMatchObject({ branch: null });
  });

  it('of filters empties each of them once, by its whole name', () => {
    expect(emptied('filter.a.clean\0filter.a.process\0filter.b.c=d.smudge\0filter.odd\0')).toEqual([
      ['filter.a.clean', ''],
      ['filter.a.process', ''],
      ['filter.a.required', 'false'],
      ['filter.b.c=d.clean', ''],
      ['filter.b.c=d.process', ''],
      ['filter.b.c=d.required', 'false'],
    ]);
  });
});
