import { requireGit } from '../platform/git-folder.ts';
import type { ProcessRunner } from '../platform/process.ts';
import { LAST_COMMIT, TOP } from './commit-line.cjs';
import { quietGit } from './quiet-git.ts';

const GIT_MS = 5_000;
const MOST_GIT_BYTES = 64 * 1024;

/** What Git prints of the last commit of a work tree, and of its top. */
export type PrintedCommit = { log: string; top: string };

/**
 * Asks Git for the last commit of a work tree; with `then`, in milliseconds, for the one that was the last at that time.
 * Null if Git does not tell. Nothing of the repository is run.
 */
export async function askLastCommit(
  folder: string,
  then: number | null,
  runner: Pick<ProcessRunner, 'run'>,
  env: NodeJS.ProcessEnv,
): Promise<PrintedCommit | null> {
  const revision = then === null ? [] : [`HEAD@{${Math.ceil(then / 1_000)} +0000}`, '--'];
  const git = async (args: readonly string[]) => {
    const limits = { timeout_ms: GIT_MS, max_output_bytes: MOST_GIT_BYTES };
    const ran = await runner.run({ ...quietGit(folder, args, env), ...limits });
    return ran.kind === 'exited' && ran.code === 0 ? ran.stdout : null;
  };
  try {
    await requireGit(folder);
  } catch {
    return null;
  }
  const [log, top] = await Promise.all([git([...LAST_COMMIT, ...revision]), git(TOP)]);
  return log === null || top === null ? null : { log, top };
}
