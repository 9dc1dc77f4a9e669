import { basename, dirname, join } from 'node:path';
import { CodedError } from '../base/errors.ts';
import { shellLine } from '../base/shell-word.ts';
import { NEUTRAL_DIRECTORY, type ProcessRunner } from './process.ts';

/** A checkout of a large repository takes a while; a hook of it may never end. */
const CHECKOUT_TIMEOUT_MS = 180_000;
const QUESTION_TIMEOUT_MS = 10_000;
const MOST_OUTPUT_BYTES = 1024 * 1024;
/** Changed files that a refusal names. */
const MOST_NAMED = 3;

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
   * is. Throws `worktree_unavailable`.
   */
  make(place: WorktreePlace): Promise<void>;
  /** Throws `worktree_in_use` where a removal would lose files that no commit has; one that is gone may be removed. */
  requireClean(place: Pick<WorktreePlace, 'path'>): Promise<void>;
  /** Removes it, and its branch where another one has its commits. Git refuses to where files would be lost. */
  remove(place: Pick<WorktreePlace, 'of' | 'path' | 'branch'>): Promise<RemovedWorktree>;
};

export function createGitWorktrees(options: {
  runner: Pick<ProcessRunner, 'run'>;
  env: NodeJS.ProcessEnv;
}): GitWorktrees {
  const run = (folder: string, args: readonly string[], timeout_ms = QUESTION_TIMEOUT_MS) =>
    runGit(options, { folder, args, timeout_ms });
  const ask = async (folder: string, ...args: string[]): Promise<string | null> => {
    const answer = await run(folder, args);
    return answer.ok ? answer.text.replace(/\n$/, '') : null;
  };
  // Git is asked, since a disk that has fallen silent must not hold this thread.
  const isThere = async (folder: string) => (await run(folder, ['--version'])).ok;
  const registered = async (of: string) =>
    parseWorktrees((await ask(of, 'worktree', 'list', '--porcelain')) ?? '');

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

    async make({ of, path, folder, branch }) {
      const known = (await registered(of)).find((one) => one.path === path);
      if (known?.branch === branch && !known.locked && (await isThere(folder))) return;
      if (known?.locked === true)
        throw unavailable(
          `the git worktree ${path} is locked: it is still being made, or was cut off; if nothing makes it, remove it with: ${shellLine(['git', '-C', of, 'worktree', 'remove', '-f', '-f', path])}`,
        );
      // Its folder was deleted by hand, so that there is nothing to lose.
      if (known !== undefined && !(await isThere(path))) await run(of, ['worktree', 'remove', path]);
      const exists = (await ask(of, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`)) !== null;
      const made = await run(
        of,
        ['worktree', 'add', ...(exists ? [path, branch] : ['-b', branch, path])],
        CHECKOUT_TIMEOUT_MS,
      );
      if (!made.ok) throw unavailable(`git could not make the worktree ${path}: ${made.detail}`);
      if (!(await isThere(folder)))
        throw unavailable(`${of} is not committed, so that the git worktree ${path} has no such folder`);
    },

    async requireClean({ path }) {
      if (!(await isThere(path))) return;
      const status = await run(path, ['status', '--porcelain', '-z', '--untracked-files=normal']);
      if (!status.ok)
        throw new CodedError('worktree_in_use', `git cannot tell what ${path} has: ${status.detail}`);
      const changed = status.text.split('\0').filter((entry) => entry !== '');
      if (changed.length === 0) return;
      const named = changed.slice(0, MOST_NAMED).map((entry) => entry.slice(3));
      const more = changed.length > named.length ? ` and ${changed.length - named.length} more` : '';
      throw new CodedError(
        'worktree_in_use',
        `${path} has changes that no commit has (${named.join(', ')}${more}); commit them or delete them, then ask again`,
      );
    },

    async remove({ of, path, branch }) {
      const known = (await registered(of)).find((one) => one.path === path);
      if (known !== undefined && known.branch === branch) {
        const removed = await run(of, ['worktree', 'remove', path], CHECKOUT_TIMEOUT_MS);
        if (!removed.ok)
          throw new CodedError(
            'worktree_in_use',
            `git did not remove ${path}: ${removed.detail}; remove it with: ${shellLine(['git', '-C', of, 'worktree', 'remove', path])}`,
          );
      } else if (known !== undefined)
        throw new CodedError('worktree_in_use', `another branch than ${branch} is checked out in ${path}`);
      const exists = (await ask(of, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`)) !== null;
      if (!exists || (await run(of, ['branch', '-d', branch])).ok) return { branch_kept: null };
      return { branch_kept: shellLine(['git', '-C', of, 'branch', '-D', branch]) };
    },
  };
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

type GitAnswer = { ok: true; text: string } | { ok: false; detail: string };

async function runGit(
  { runner, env }: { runner: Pick<ProcessRunner, 'run'>; env: NodeJS.ProcessEnv },
  { folder, args, timeout_ms }: { folder: string; args: readonly string[]; timeout_ms: number },
): Promise<GitAnswer> {
  const own = Object.entries(env).filter(([name]) => !name.startsWith('GIT_'));
  const result = await runner.run({
    file: 'git',
    // A start in the folder of a silent disk would block this thread.
    args: ['--no-pager', '-C', folder, ...args],
    cwd: NEUTRAL_DIRECTORY,
    env: { ...Object.fromEntries(own), GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' },
    timeout_ms,
    max_output_bytes: MOST_OUTPUT_BYTES,
  });
  switch (result.kind) {
    case 'exited':
      return result.code === 0
        ? { ok: true, text: result.stdout }
        : { ok: false, detail: lastLine(result.stderr) };
    case 'not_started':
      return { ok: false, detail: 'git is not installed, or cannot be run' };
    case 'timed_out':
      return { ok: false, detail: `git did not end within ${timeout_ms / 1000} s` };
    case 'overflowed':
      return { ok: false, detail: `git said more than ${MOST_OUTPUT_BYTES} bytes` };
    case 'signalled':
      return { ok: false, detail: `git was ended by ${result.signal}` };
  }
}

function lastLine(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? '';
  return line.replace(/^(fatal|error): /, '') || 'it gave no reason';
}

function unavailable(what: string): CodedError {
  return new CodedError('worktree_unavailable', what);
}
