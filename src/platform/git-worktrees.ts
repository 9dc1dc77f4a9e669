import { basename, dirname, join } from 'node:path';
import { CodedError, messageOf } from '../base/errors.ts';
import { shellLine } from '../base/shell-word.ts';
import { failureWords } from './failure-words.ts';
import { requireGit } from './git-folder.ts';
import { NEUTRAL_DIRECTORY } from './piped-process.ts';
import type { ProcessRunner } from './process.ts';
import { copyIncluded, fillSubmodules } from './worktree-files.ts';

/** A checkout of a large repository takes a while; a hook of it may never end. */
const CHECKOUT_TIMEOUT_MS = 180_000;
const QUESTION_TIMEOUT_MS = 10_000;
const MOST_OUTPUT_BYTES = 1024 * 1024;
/** Changed files that a refusal names. */
const MOST_NAMED = 3;
/** Commits of a submodule that are looked for elsewhere. */
const COMMITS_ASKED = 1_000;

/** A git worktree for one fiber; all paths are absolute. */
export type WorktreePlace = {
  /** The folder that the worktree is made from, in a repository. */
  of: string;
  /** Top of the worktree, beside the repository: `<repository>.worktrees/<name>`. */
  path: string;
  /** The same folder as `of`, in the worktree. */
  folder: string;
  /** `fiber/<name>` */
  branch: string;
};

/** What became of a worktree that was to be removed; `branch_kept` says how its branch is deleted where it was kept. */
type RemovedWorktree = { branch_kept: string | null };

/** Git worktrees of the machine. */
export type GitWorktrees = {
  /**
   * Where the worktree of a folder is made; reads only. Throws `worktree_unavailable` for a folder that is in no repository
   * with a commit, or in one whose `.git` is elsewhere.
   */
  plan(of: string, name: string): Promise<WorktreePlace>;
  /**
   * Makes it from the commit that is checked out in `of`, on a branch of its own; one that is there already is kept as it
   * is. It gets the submodules that the work tree of `of` has, and the ignored files that `.worktreeinclude` names. Answers what Git, or a hook of it, complained of although the worktree is there; null for nothing. Throws
   * `worktree_unavailable`.
   */
  make(place: WorktreePlace): Promise<string | null>;
  /**
   * Throws `worktree_in_use` where a removal would lose files that no commit has, or commits that only a submodule in it
   * has; one that is gone may be removed.
   */
  requireClean(place: Pick<WorktreePlace, 'of' | 'path'>): Promise<void>;
  /** Removes it, and its branch where another one has its commits. Throws as `requireClean` does. */
  remove(place: Pick<WorktreePlace, 'of' | 'path' | 'branch'>): Promise<RemovedWorktree>;
};

export function createGitWorktrees(options: {
  runner: Pick<ProcessRunner, 'run'>;
  env: NodeJS.ProcessEnv;
}): GitWorktrees {
  const run = (folder: string, args: readonly string[], limits: GitLimits = {}) =>
    runGit(options, folder, args, limits);
  const ask = async (folder: string, ...args: string[]): Promise<string | null> => {
    const answer = await run(folder, args);
    return answer.ok ? answer.text.replace(/\n$/, '') : null;
  };
  // Git is asked, since a disk that has fallen silent must not hold this thread.
  const isThere = async (folder: string) => (await run(folder, ['--version'])).ok;
  const registered = async (of: string, path: string, refuse: (what: string) => CodedError) => {
    const listed = await run(of, ['worktree', 'list', '--porcelain']);
    if (!listed.ok) throw refuse(`git cannot list the worktrees of ${of}: ${listed.detail}`);
    return parseWorktrees(listed.text).find((one) => one.path === path);
  };

  return {
    async plan(of, name) {
      const asked = await run(of, [
        ...['rev-parse', '--path-format=absolute'],
        ...['--git-common-dir', '--show-prefix'],
      ]);
      if (!asked.ok) throw unavailable(`${of} is in no git repository (${asked.detail})`);
      const [common = '', prefix = ''] = asked.text.split('\n');
      if (basename(common) !== '.git')
        throw unavailable(`the repository of ${of} is ${common}, which is not beside its files`);
      if ((await ask(of, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}')) === null)
        throw unavailable(`the repository of ${of} has no commit yet`);
      const path = join(`${dirname(common)}.worktrees`, name);
      return { of, path, folder: join(path, prefix.replace(/\/$/, '')), branch: `fiber/${name}` };
    },

    async make(place) {
      const { of, path } = place;
      const { is_new, complaint } = await checkOut(place);
      const between = { from: (await ask(of, 'rev-parse', '--show-toplevel')) ?? of, to: path };
      const lacks =
        (await fillSubmodules(run, between, CHECKOUT_TIMEOUT_MS)) ??
        (await copyIncluded(run, between, CHECKOUT_TIMEOUT_MS));
      if (lacks === null) return complaint;
      // The next start makes it anew: nobody has worked in it.
      if (is_new) await run(of, ['worktree', 'remove', '--force', path], { timeout_ms: CHECKOUT_TIMEOUT_MS });
      throw unavailable(`git could not make the whole worktree ${path}: ${lacks}`);
    },

    async requireClean(place) {
      const lost = await wouldLose(place);
      if (lost !== null) throw inUse(`${lost}, then ask again`);
    },

    async remove({ of, path, branch }) {
      const registration = () => registered(of, path, inUse);
      const known = await registration();
      if (known !== undefined && known.branch !== branch)
        throw inUse(`another branch than ${branch} is checked out in ${path}`);
      let removed = await run(of, ['worktree', 'remove', path], { timeout_ms: CHECKOUT_TIMEOUT_MS });
      if (!removed.ok && (await registration()) !== undefined) {
        const by_hand = shellLine(['git', '-C', of, 'worktree', 'remove', '--force', path]);
        const lost = await wouldLose({ of, path });
        if (lost !== null) throw inUse(`${lost}, then remove it with: ${by_hand}`);
        // Git removes none with submodules unless it is forced to.
        removed = await run(of, ['worktree', 'remove', '--force', path], { timeout_ms: CHECKOUT_TIMEOUT_MS });
        if (!removed.ok && (await registration()) !== undefined)
          throw inUse(
            `git did not remove ${path}: ${removed.detail}; when that is mended, remove it with: ${by_hand}`,
          );
      }
      await run(of, ['branch', '-d', branch]);
      const kept = (await ask(of, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`)) !== null;
      return { branch_kept: kept ? shellLine(['git', '-C', of, 'branch', '-D', branch]) : null };
    },
  };

  /** Answers what Git, or a hook of it, complained of although the work tree is there. */
  async function checkOut({ of, path, folder, branch }: WorktreePlace) {
    const isMade = async () => {
      const known = await registered(of, path, unavailable);
      return known?.branch === branch && !known.locked && (await isThere(folder));
    };
    if (await isMade()) return { is_new: false, complaint: null };
    const known = await registered(of, path, unavailable);
    if (known?.locked === true)
      throw unavailable(
        `the git worktree ${path} is locked: it is still being made, or was cut off; if nothing makes it, remove it with: ${shellLine(['git', '-C', of, 'worktree', 'remove', '-f', '-f', path])}`,
      );
    // Its folder was deleted by hand, so that there is nothing to lose.
    if (known !== undefined && !(await isThere(path))) await run(of, ['worktree', 'remove', path]);
    const exists = (await ask(of, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`)) !== null;
    const made = await run(
      of,
      ['worktree', 'add', '--quiet', ...(exists ? [path, branch] : ['-b', branch, path])],
      {
        timeout_ms: CHECKOUT_TIMEOUT_MS,
      },
    );
    // Git exits as its hook did, which runs when all is made.
    if (await isMade()) return { is_new: true, complaint: made.ok ? null : made.detail };
    if (!made.ok) throw unavailable(`git could not make the worktree ${path}: ${made.detail}`);
    throw unavailable(`${of} is not committed, so that the git worktree ${path} has no such folder`);
  }

  /** What a removal would lose, with how to keep it; null for nothing. */
  async function wouldLose({ of, path }: Pick<WorktreePlace, 'of' | 'path'>): Promise<string | null> {
    if (!(await isThere(path))) return null;
    const status = await run(path, [
      ...['status', '--porcelain', '-z'],
      ...['--untracked-files=normal', '--ignore-submodules=none'],
    ]);
    if (!status.ok) return unknown(path, status);
    const changed = status.text.split('\0').filter((entry) => entry !== '');
    if (changed.length > 0) {
      const named = changed.slice(0, MOST_NAMED).map((entry) => entry.slice(3));
      const more = changed.length > named.length ? ` and ${changed.length - named.length} more` : '';
      return `${path} has changes that no commit has (${named.join(', ')}${more}); commit them or delete them`;
    }
    return submoduleLoss(path, (await ask(of, 'rev-parse', '--show-toplevel')) ?? of);
  }

  /** The same of the submodules of a work tree that has no changes; `twin` is the work tree that it was made from. */
  async function submoduleLoss(tree: string, twin: string): Promise<string | null> {
    const index = await run(tree, ['ls-files', '--stage', '-z'], {
      max_output_bytes: 64 * MOST_OUTPUT_BYTES,
    });
    if (!index.ok) return unknown(tree, index);
    for (const entry of index.text.split('\0').filter((line) => line.startsWith('160000 '))) {
      const name = entry.slice(entry.indexOf('\t') + 1);
      const [here, there] = [join(tree, name), join(twin, name)];
      // One that was not fetched is an empty folder of the tree around it.
      if ((await ask(here, 'rev-parse', '--show-prefix')) !== '') continue;
      if ((await ask(here, 'rev-parse', '--verify', '--quiet', 'refs/stash')) !== null)
        return `the submodule ${here} has stashes; apply them or drop them`;
      const args = ['rev-list', `--max-count=${COMMITS_ASKED}`, 'HEAD', '--branches', '--tags'];
      const own = await run(here, [...args, '--not', '--remotes']);
      if (!own.ok) return unknown(here, own);
      const commits = own.text.split('\n').filter((sha) => sha !== '');
      const known = ['rev-list', '--max-count=1', ...commits, '--not', '--all', 'HEAD'];
      if (commits.length > 0 && (await ask(there, ...known)) !== '') {
        const keep = ['HEAD', 'heads/*', 'tags/*'].map(
          (ref) => `+${ref === 'HEAD' ? ref : `refs/${ref}`}:refs/kept/${basename(tree)}/${ref}`,
        );
        return `the submodule ${here} has commits that nothing else has; push them, or keep them in ${there} with: ${shellLine(['git', '-C', there, 'fetch', here, ...keep])}`;
      }
      const below = await submoduleLoss(here, there);
      if (below !== null) return below;
    }
    return null;
  }
}

function unknown(tree: string, { detail }: { detail: string }): string {
  return `git cannot tell what ${tree} has (${detail}); mend that`;
}

type Registered = { path: string; branch: string | null; locked: boolean };

/** What `git worktree list --porcelain` printed: the main one first. */
export function parseWorktrees(text: string): Registered[] {
  return text.split('\n\n').flatMap((block) => {
    const lines = block.split('\n');
    const value = (key: string) =>
      lines.find((line) => line.startsWith(`${key} `))?.slice(key.length + 1) ?? null;
    const path = value('worktree');
    if (path === null) return [];
    const branch = value('branch')?.replace(/^refs\/heads\//, '') ?? null;
    return [{ path, branch, locked: lines.some((line) => /^locked( |$)/.test(line)) }];
  });
}

type GitLimits = { timeout_ms?: number; max_output_bytes?: number; input?: string };
type GitAnswer = { ok: true; text: string } | { ok: false; detail: string };

async function runGit(
  { runner, env }: { runner: Pick<ProcessRunner, 'run'>; env: NodeJS.ProcessEnv },
  folder: string,
  args: readonly string[],
  { timeout_ms = QUESTION_TIMEOUT_MS, max_output_bytes = MOST_OUTPUT_BYTES, input }: GitLimits,
): Promise<GitAnswer> {
  await requireGit(folder).catch((error: unknown) => {
    throw unavailable(`git cannot look at ${folder}: ${messageOf(error)}`);
  });
  const own = Object.entries(env).filter(([name]) => !name.startsWith('GIT_'));
  const result = await runner.run({
    file: 'git',
    // A start in the folder of a silent disk would block this thread.
    args: ['--no-pager', '-C', folder, ...args],
    cwd: NEUTRAL_DIRECTORY,
    env: { ...Object.fromEntries(own), GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' },
    timeout_ms,
    max_output_bytes,
    ...(input === undefined ? {} : { input }),
  });
  if (result.kind === 'exited' && result.code === 0) return { ok: true, text: result.stdout };
  return { ok: false, detail: failureWords(result) };
}

function unavailable(what: string): CodedError {
  return new CodedError('worktree_unavailable', what);
}

function inUse(what: string): CodedError {
  return new CodedError('worktree_in_use', what);
}
