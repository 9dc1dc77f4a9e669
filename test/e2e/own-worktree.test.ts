import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { run } from '../kit/test-home.ts';

vi.setConfig({ testTimeout: 60_000 });

let daemon: TestDaemon;
let repo: string;
beforeEach(async () => {
  daemon = await startTestDaemon();
  repo = daemon.home.project('app');
  writeFileSync(join(repo, 'README.md'), 'An app\n');
  await git(repo, 'init', '-q', '-b', 'main');
  await git(repo, 'add', '.');
  await git(repo, 'commit', '-qm', 'First');
});
afterEach(() => daemon?.dispose());

async function git(folder: string, ...args: string[]): Promise<string> {
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
  const ran = await run('git', ['-C', folder, ...who, ...args], daemon.home.env);
  expect(ran, args.join(' ')).toMatchObject({ code: 0 });
  return ran.stdout;
}
const svc = (...args: string[]) => daemon.home.svc(...args);
const fieldsOf = async (id: string) => {
  const { stdout } = await svc('fiber', 'show', id, '--json');
  return JSON.parse(stdout).fiber.svc as { project_dir: string; worktree?: string; worktree_of?: string };
};

describe('a git worktree for each fiber', () => {
  it('[DSP-6] keeps two workers of one repository apart, is shown by diff, and goes when nothing is lost', async () => {
    for (const task of ['Mend the parser', 'Try another lexer']) {
      const ran = await svc('run', task, '--dir', repo, '--agent', 'stays', '--worktree', '-d');
      expect(ran, ran.stderr).toMatchObject({ code: 0 });
      expect(ran.stderr).toMatch(/worker {3}stays in ~\/projects\/app\.worktrees\/(mend|try)-[a-z0-9-]+\n/);
      expect(ran.stderr).not.toContain('works in this folder too');
    }
    const parser = await fieldsOf('mend-the-parser');
    const lexer = await fieldsOf('try-another-lexer');
    expect(parser.project_dir).not.toBe(lexer.project_dir);
    for (const { project_dir, worktree, worktree_of } of [parser, lexer]) {
      expect(project_dir).toMatch(/\/projects\/app\.worktrees\//);
      expect(worktree_of).toBe(repo);
      expect((await git(project_dir, 'branch', '--show-current')).trim()).toBe(worktree);
      expect(readFileSync(join(project_dir, 'README.md'), 'utf8')).toBe('An app\n');
    }
    writeFileSync(join(parser.project_dir, 'parser.ts'), 'export {};\n');
    expect(await git(repo, 'status', '--porcelain')).toBe('');
    const diff = await svc('diff', 'mend');
    expect(diff.stdout).toContain('parser.ts');
    expect(diff.stdout).toContain(parser.worktree!);

    const drop = () => svc('reshape', 'mend-the-parser', '--drop-worktree');
    expect(await drop()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/a worker of mend-the-parser is in .*svc kill mend-the-parser/),
    });
    await svc('kill', 'mend-the-parser', '--yes');
    expect(await drop()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /has changes that no commit has \(parser\.ts\); commit them or delete them/,
      ),
    });
    expect(existsSync(join(parser.project_dir, 'parser.ts'))).toBe(true);
    await git(parser.project_dir, 'add', '.');
    await git(parser.project_dir, 'commit', '-qm', 'Mend the parser');
    const dropped = await drop();
    expect(dropped.stderr).toBe('');
    expect(dropped.stdout).toContain(`Its git worktree ${parser.project_dir} is removed.`);
    expect(dropped.stdout).toContain(`git -C ${repo} branch -D ${parser.worktree}`);
    expect(existsSync(parser.project_dir)).toBe(false);
    expect(await git(repo, 'show', `${parser.worktree}:parser.ts`)).toBe('export {};\n');
    expect(await fieldsOf('mend-the-parser')).toMatchObject({ project_dir: repo });
    expect(existsSync(lexer.project_dir)).toBe(true);
  });

  it('is made when the poller starts the fiber, in the same folder of the repository, and set up, though a hook of that fails', async () => {
    const below = join(repo, 'web');
    mkdirSync(below);
    writeFileSync(join(below, 'index.html'), '<p>\n');
    writeFileSync(join(repo, '.gitignore'), '.env\n');
    writeFileSync(join(repo, '.worktreeinclude'), '.env\n');
    writeFileSync(join(repo, '.env'), 'KEY=1\n');
    await git(repo, 'config', 'fiber-dispatch.worktreeSetup', 'cat ../.env >installed');
    await git(repo, 'add', '.');
    await git(repo, 'commit', '-qm', 'Page');
    writeFileSync(join(repo, '.git', 'hooks', 'post-checkout'), '#!/bin/sh\nexit 2\n', { mode: 0o755 });
    await svc('fiber', 'add', 'Draw the page', '--slug', 'page');
    expect(
      await svc('install', 'page', '--project-dir', below, '--agent', 'stays', '--worktree'),
    ).toMatchObject({
      code: 0,
      stderr: '',
    });
    await daemon.running('page');
    const { project_dir } = await fieldsOf('page');
    expect(project_dir).toMatch(/app\.worktrees\/page-[a-z0-9]{6}\/web$/);
    expect(existsSync(join(project_dir, 'index.html'))).toBe(true);
    await vi.waitFor(
      () => expect(readFileSync(join(project_dir, 'installed'), 'utf8')).toBe('KEY=1\n'),
      20_000,
    );
  });

  it('is refused for a folder without a repository, with the command that starts it all the same', async () => {
    const plain = daemon.home.project('plain');
    await svc('fiber', 'add', 'Tidy up', '--slug', 'tidy');
    await svc('install', 'tidy', '--project-dir', plain, '--agent', 'stays', '--worktree');
    const blocked = await daemon.rowWhen('tidy', 'blocked', (row) => row.blocked !== undefined);
    expect(blocked.blocked).toMatchObject({ reason: 'worktree_unavailable' });
    const why = await svc('why', 'tidy');
    expect(why.stdout.replaceAll(/\s+/g, ' ')).toContain(
      `To have it work in ${plain} itself: svc reshape tidy --drop-worktree`,
    );
    expect(await svc('reshape', 'tidy', '--drop-worktree')).toMatchObject({ code: 0 });
    await daemon.running('tidy');
    expect(await fieldsOf('tidy')).toMatchObject({ project_dir: plain });
  });

  it('may be given up after its folder was deleted by hand, and stays when its fiber is uninstalled', async () => {
    await svc('run', 'Leave', '--dir', repo, '--agent', 'stays', '--worktree', '-d');
    const { project_dir, worktree } = await fieldsOf('leave');
    await svc('kill', 'leave', '--yes');
    rmSync(project_dir, { recursive: true });
    expect(await svc('reshape', 'leave', '--drop-worktree')).toMatchObject({ code: 0, stderr: '' });
    expect(await git(repo, 'branch', '--list', worktree!)).toBe('');

    await svc('reshape', 'leave', '--worktree');
    await svc('dispatch', 'leave');
    const again = await fieldsOf('leave');
    expect(existsSync(again.project_dir)).toBe(true);
    await svc('kill', 'leave', '--yes');
    const { stdout } = await svc('uninstall', 'leave', '--yes');
    const [, hint = ''] = /Its git worktree stays; remove it with: git (.+)/.exec(stdout) ?? [];
    expect(existsSync(again.project_dir)).toBe(true);
    expect(await run('git', hint.split(' '), daemon.home.env)).toMatchObject({ code: 0 });
    expect(existsSync(again.project_dir)).toBe(false);
  });

  it('is not told of where the daemon is away: only it knows that no worker is in there', async () => {
    await svc('run', 'Wait', '--dir', repo, '--agent', 'stays', '--worktree', '-d');
    await svc('kill', 'wait', '--yes');
    await daemon.stop();
    expect(await svc('reshape', 'wait', '--drop-worktree')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('only the daemon can remove a git worktree; start it with'),
    });
    expect(await fieldsOf('wait')).toMatchObject({ worktree: expect.stringContaining('fiber/wait') });
  });
});
