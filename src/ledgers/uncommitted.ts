import { CodedError } from '../base/errors.ts';
import type { NoWorkTree, WorkTree } from '../contract/http/uncommitted.ts';
import { failureWords } from '../platform/failure-words.ts';
import { requireGit } from '../platform/git-folder.ts';
import type { ProcessResult, ProcessRunner } from '../platform/process.ts';
import { FILES_OPTIONS, LINES_OPTIONS, parseFiles } from './commit-patch.ts';
import { AS_TEXT, type GitSetting, quietGit } from './quiet-git.ts';

/** Characters that are read of one list of changes; what comes after is left out. */
const MOST_CHANGES = 512 * 1024;
const GIT_TIMEOUT_MS = 5_000;
/** What a repository without a commit is compared with: the tree without files. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

export type WantedChanges = {
  /** Absolute path of a folder that exists. */
  folder: string;
  patch: boolean;
};

/**
 * What a folder has that no commit has. Nothing that the repository names is run, and no file of it is written. Throws
 * `file_unavailable` if Git cannot run, `deadline_exceeded`.
 */
export async function readUncommitted(
  { folder, patch }: WantedChanges,
  runner: Pick<ProcessRunner, 'run'>,
  env: NodeJS.ProcessEnv,
): Promise<WorkTree | NoWorkTree> {
  await requireGit(folder);
  const limits = { timeout_ms: GIT_TIMEOUT_MS, max_output_bytes: MOST_CHANGES };
  const git = async (args: readonly string[], settings: readonly GitSetting[] = []) =>
    printed(await runner.run({ ...quietGit(folder, args, env, settings), ...limits }), folder);
  const top = await git(['rev-parse', '--show-toplevel']);
  if (top.code !== 0) return { state: 'no_repository', detail: top.text };
  const filters = await git(FILTERS);
  if (filters.capped) return { state: 'no_repository', detail: 'its settings name too many filters' };
  const unfiltered = filters.code === 0 ? emptied(filters.text) : [];
  const status = await git(STATUS, unfiltered);
  if (status.code !== 0) return { state: 'no_repository', detail: status.text };
  const { branch, untracked, is_born } = parseStatus(status.text);
  const shown = [...AS_TEXT, ...FILES_OPTIONS, ...(patch ? LINES_OPTIONS : [])];
  const base = is_born ? 'HEAD' : EMPTY_TREE;
  const diff = await git(['diff', ...shown, '--ignore-submodules=all', base, '--', '.'], unfiltered);
  if (diff.code !== 0) return { state: 'no_repository', detail: diff.text };
  const { files, truncated } = parseFiles(diff.text, { capped: diff.capped, patch });
  const repo = top.text.replace(/\n$/, '');
  return { state: 'read', repo, branch, files, untracked, truncated: truncated || status.capped };
}

const FILTERS = ['config', '--null', '--name-only', '--get-regexp', '^filter\\.'];
const STATUS = [
  ...['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=normal', '--no-renames'],
  ...['--ignore-submodules=all', '--', '.'],
];

/** Settings that make each of these filters one that does nothing: Git would run it to compare a changed file. */
export function emptied(names: string): GitSetting[] {
  const filters = new Set(
    names.split('\0').flatMap((name) => /^filter\.(.+)\.[^.]+$/s.exec(name)?.slice(1) ?? []),
  );
  return [...filters].flatMap((filter): GitSetting[] => [
    [`filter.${filter}.clean`, ''],
    [`filter.${filter}.process`, ''],
    [`filter.${filter}.required`, 'false'],
  ]);
}

/** What `git status --porcelain=v2 --branch -z` printed, or the beginning of it. */
export function parseStatus(text: string): { branch: string | null; untracked: string[]; is_born: boolean } {
  const fields = text.split('\0').slice(0, -1);
  const header = (name: string) =>
    fields.find((field) => field.startsWith(`# branch.${name} `))?.slice(`# branch.${name} `.length);
  const head = header('head');
  return {
    branch: head === undefined || head === '(detached)' ? null : head,
    untracked: fields.filter((field) => field.startsWith('? ')).map((field) => field.slice(2)),
    is_born: header('oid') !== '(initial)',
  };
}

/** Of a failed run, `text` is what it said of that. */
function printed(result: ProcessResult, folder: string): { code: number; text: string; capped: boolean } {
  if (result.kind === 'exited')
    return {
      code: result.code,
      text: result.code === 0 ? result.stdout : failureWords(result),
      capped: false,
    };
  if (result.kind === 'overflowed') return { code: 0, text: result.stdout, capped: true };
  if (result.kind === 'timed_out')
    throw new CodedError(
      'deadline_exceeded',
      `Git took longer than ${GIT_TIMEOUT_MS / 1_000} seconds to compare the files of ${folder}; ask again when the machine has less to do`,
    );
  throw new CodedError(
    'file_unavailable',
    `Git could not compare the files of ${folder}: ${failureWords(result)}; see what svc doctor says of git, then ask again`,
  );
}
