import { CodedError } from '../base/errors.ts';
import type { Patch } from '../contract/http/commit-patch.ts';
import { failureWords } from '../platform/failure-words.ts';
import { requireGit } from '../platform/git-folder.ts';
import type { ProcessRunner } from '../platform/process.ts';
import { PATCH_FORMAT, PATCH_OPTIONS, parsePatch } from './commit-patch.ts';
import { AS_TEXT, quietGit } from './quiet-git.ts';

/** Characters that are read of a commit; what comes after is left out. */
const MOST_PATCH = 512 * 1024;
const GIT_TIMEOUT_MS = 5_000;

export type WantedCommit = {
  /** Absolute path of a folder of the repository; its disk must be known to answer. */
  repo: string;
  /** The whole name, in lower case. */
  sha: string;
};

/**
 * What a commit changed, from its repository. Nothing of that repository is run, and nothing is fetched. Throws
 * `not_found` if Git cannot show the commit, `file_unavailable` if Git itself cannot run, `deadline_exceeded`.
 */
export async function showCommit(
  { repo, sha }: WantedCommit,
  runner: Pick<ProcessRunner, 'run'>,
  env: NodeJS.ProcessEnv,
): Promise<Patch> {
  await requireGit(repo);
  const args = [
    ...['show', '--no-show-signature', '--no-notes', '--no-mailmap', '--encoding=UTF-8'],
    ...[...AS_TEXT, ...PATCH_OPTIONS, PATCH_FORMAT, `${sha}^{commit}`, '--'],
  ];
  const limits = { timeout_ms: GIT_TIMEOUT_MS, max_output_bytes: MOST_PATCH };
  const result = await runner.run({ ...quietGit(repo, args, env), ...limits });
  const short = sha.slice(0, 12);
  if (result.kind === 'exited' && result.code === 0) return read(result.stdout, false, short);
  if (result.kind === 'overflowed') return read(result.stdout, true, short);
  if (result.kind === 'timed_out')
    throw new CodedError(
      'deadline_exceeded',
      `Git took longer than ${GIT_TIMEOUT_MS / 1_000} seconds to show ${short} of ${repo}; ask again when the machine has less to do`,
    );
  if (result.kind === 'exited')
    throw new CodedError(
      'not_found',
      `Git cannot show ${short} of ${repo}: ${failureWords(result)}. If it was rewritten or removed there, look for it where it was pushed to`,
      { details: { repo, sha } },
    );
  throw new CodedError(
    'file_unavailable',
    `Git could not show ${short}: ${failureWords(result)}; see what svc doctor says of git, then ask again`,
  );
}

function read(printed: string, capped: boolean, short: string): Patch {
  const patch = parsePatch(printed, capped);
  if (patch !== null) return patch;
  throw new CodedError('file_unavailable', `What Git printed of ${short} cannot be read; update git`);
}
