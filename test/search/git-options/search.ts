import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseLastCommit } from '../../../src/ledgers/commit-line.cjs';
import { askLastCommit } from '../../../src/ledgers/last-commit.ts';
import { showCommit } from '../../../src/ledgers/show-commit.ts';
import { readUncommitted } from '../../../src/ledgers/uncommitted.ts';
import { createGitWorktrees } from '../../../src/platform/git-worktrees.ts';
import { createRunner } from '../../../src/platform/process.ts';
import { seeded } from '../../faults/seeded.ts';
import type { Finding, SearchOptions, SearchReport } from '../contract.ts';
import { replayCommand } from '../searches.ts';
import { numberOf } from '../simulation/plan.ts';
import { CORPUS, type GitOption } from './corpus.ts';

export const name = 'git-options';

const execute = promisify(execFile);
/** A person with no setting; the files of a repository are made by one. */
const PLAIN = { PATH: process.env.PATH ?? '', GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' };
const WHO = '[user]\n\tname = Ada\n\temail = ada@example.org\n';

/**
 * Each setting of users for Git, then pairs of them: a worktree is made, its changes and a commit are read, and it is removed,
 * with the same result as without any setting.
 */
export async function search(options: SearchOptions): Promise<SearchReport> {
  const { seed, until_ms, signal, only_case, log } = options;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-git-options-')));
  const findings: Finding[] = [];
  let cases = 0;
  try {
    const template = await makeTemplate(folder);
    const expected = await walk(template, join(folder, 'plain'), []);
    const wanted = only_case === undefined ? casesOf(seed) : [readCase(only_case)];
    for (const some of wanted) {
      if (signal.aborted || (only_case === undefined && Date.now() >= until_ms)) break;
      cases += 1;
      const seen = await walk(template, join(folder, `case-${cases}`), some);
      if (seen === expected) continue;
      const title = `with ${some.map((one) => one.name).join(' and ')}: ${differenceOf(expected, seen)}`;
      log(title);
      const called = some.map((one) => CORPUS.indexOf(one)).join('+');
      findings.push({ title, replay: replayCommand(name, seed, called) });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { cases, findings };
}

/** All settings alone, then all pairs, both in an order that the seed decides. */
function* casesOf(seed: string): Generator<GitOption[]> {
  const random = seeded(numberOf(seed));
  const order = random.some(CORPUS, CORPUS.length);
  for (const one of order) yield [one];
  for (const [at, one] of order.entries()) for (const other of order.slice(at + 1)) yield [one, other];
}

function readCase(text: string): GitOption[] {
  return text.split('+').map((index) => {
    const option = CORPUS[Number(index)];
    if (option === undefined) throw new Error(`${text} is no case of ${name}`);
    return option;
  });
}

/** A repository with a submodule, and the programs that settings name. */
async function makeTemplate(folder: string): Promise<string> {
  const template = join(folder, 'template');
  const [repo, lib] = [join(template, 'repo'), join(folder, 'lib')];
  const home = join(template, 'home');
  mkdirSync(join(home, 'hooks'), { recursive: true });
  mkdirSync(join(home, 'template', 'hooks'), { recursive: true });
  const failing = '#!/bin/sh\necho "this program fails" >&2\nexit 2\n';
  for (const file of ['failing', 'hooks/post-checkout', 'template/hooks/post-checkout'])
    writeFileSync(join(home, file), failing, { mode: 0o755 });
  writeFileSync(join(home, 'attributes'), '*.txt text eol=lf\n');
  writeFileSync(join(home, 'excludes'), '*.ignored\n');
  writeFileSync(join(home, 'order'), '*.md\n*.txt\n');
  const git = (...args: string[]) =>
    execute('git', ['-c', 'protocol.file.allow=always', ...args], { env: { ...PLAIN, HOME: home } });
  writeFileSync(join(home, '.gitconfig'), WHO);
  for (const path of [lib, repo]) {
    await git('init', '-q', '-b', 'main', path);
    writeFileSync(join(path, 'a.txt'), 'one\ntwo\nthree\n');
    writeFileSync(join(path, 'größe.txt'), 'eins\n');
    await git('-C', path, 'add', '.');
    await git('-C', path, 'commit', '-qm', 'First');
  }
  await git('-C', repo, 'submodule', '--quiet', 'add', `file://${lib}`, 'lib');
  await git('-C', repo, 'commit', '-qm', 'Use lib');
  return template;
}

/** What is seen of a worktree from its making to its removal, in lines. */
async function walk(template: string, folder: string, options: readonly GitOption[]): Promise<string> {
  cpSync(template, folder, { recursive: true });
  const [repo, home] = [join(folder, 'repo'), join(folder, 'home')];
  const config = options.map((one) => one.config?.(home) ?? '').join('');
  writeFileSync(join(home, '.gitconfig'), `${WHO}${config}`);
  const env = Object.assign({}, PLAIN, { HOME: home }, ...options.map((one) => one.env ?? {}));
  const runner = createRunner();
  const worktrees = createGitWorktrees({ runner, env });
  const told: string[] = [];
  const note = (what: string, seen: unknown) =>
    told.push(
      `${what}: ${JSON.stringify(seen)
        .replaceAll(folder, '')
        .replaceAll(/[0-9a-f]{40}/g, 'SHA')}`,
    );
  try {
    const place = await worktrees.plan(repo, 'walk');
    await worktrees.make(place);
    note('its submodule', readFileSync(join(place.path, 'lib', 'a.txt'), 'utf8').replaceAll('\r', ''));
    const text = readFileSync(join(place.path, 'a.txt'), 'utf8');
    writeFileSync(join(place.path, 'a.txt'), text.replace('two', 'zwei'));
    writeFileSync(join(place.path, 'öffnen.txt'), 'new\n');
    note('its changes', await readUncommitted({ folder: place.path, patch: true }, runner, env));
    // A person whose signatures fail has no commit to notice, and this one writes UTF-8.
    const committing = ['commit.gpgsign=false', 'core.safecrlf=false', 'i18n.commitEncoding=UTF-8'].flatMap(
      (setting) => ['-c', setting],
    );
    const git = (...args: string[]) =>
      execute('git', ['-C', place.path, ...committing, ...args], { env: { ...PLAIN, HOME: home } });
    await git('add', '.');
    await git('commit', '-qm', 'Öffne zwei');
    const printed = await askLastCommit(place.path, null, runner, env);
    note('its commit', { ...parseLastCommit(printed?.log ?? ''), committed_at: 0, repo: printed?.top });
    const { stdout } = await git('rev-parse', 'HEAD');
    const { files } = await showCommit({ repo: place.path, sha: stdout.trim() }, runner, env);
    note('its patch', files);
    await worktrees.requireClean(place);
    note('its removal', await worktrees.remove(place));
  } catch (error) {
    note('it broke off', error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  }
  rmSync(folder, { recursive: true, force: true });
  return told.join('\n');
}

function differenceOf(expected: string, seen: string): string {
  const lines = expected.split('\n');
  const at = seen.split('\n').findIndex((line, index) => line !== lines[index]);
  return `${seen.split('\n')[at] ?? 'nothing'}, and without: ${lines[at] ?? 'nothing'}`;
}
