import { constants } from 'node:fs';
import { copyFile, lstat, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemCode } from '../base/errors.ts';

/** One run of Git in a folder; `detail` is why it failed. */
export type RunGit = (
  folder: string,
  args: readonly string[],
  options?: { timeout_ms?: number; input?: string },
) => Promise<{ ok: true; text: string } | { ok: false; detail: string }>;

/** Patterns of ignored files that every new worktree gets, as Claude Code and others read them. */
const INCLUDE_FILE = '.worktreeinclude';

/**
 * Checks the submodules out that the work tree `from` has and the new one `to` lacks. Their objects come from those of `from`;
 * Git asks their remotes for what these lack. Null on success, else why not.
 */
export async function fillSubmodules(
  git: RunGit,
  { from, to }: { from: string; to: string },
  timeout_ms: number,
): Promise<string | null> {
  const declared = await git(to, ['ls-files', '--', '.gitmodules']);
  if (declared.ok && declared.text === '') return null;
  const [theirs, ours] = [await submodulesOf(git, from), await submodulesOf(git, to)];
  if (typeof theirs === 'string') return theirs;
  if (typeof ours === 'string') return ours;
  const has = (name: string) => (theirs.get(name) ?? NOT_THERE) !== NOT_THERE;
  const lacking = [...ours].flatMap(([name, sign]) => (sign === NOT_THERE && has(name) ? [name] : []));
  if (lacking.length === 0) return null;
  const local: string[] = ['-c', 'protocol.file.allow=always'];
  for (const name of lacking) {
    const folder = join(from, name);
    const objects = await git(folder, ['rev-parse', '--path-format=absolute', '--git-common-dir']);
    const remote = await git(folder, ['config', '--get', 'remote.origin.url']);
    if (!objects.ok || !remote.ok || objects.text.includes('=')) continue;
    // The clone still has the real URL for its remote.
    local.push('-c', `url.${objects.text.trim()}.insteadOf=${remote.text.trim()}`);
  }
  const update = ['submodule', '--quiet', 'update', '--init', '--recursive', '--', ...lacking];
  if ((await git(to, [...local, ...update], { timeout_ms })).ok) return null;
  const fetched = await git(to, update, { timeout_ms });
  if (fetched.ok) return null;
  // Git exits as a hook did that runs when all is checked out.
  const now = await submodulesOf(git, to);
  const wanted = [...theirs.keys()].filter((name) => lacking.some((top) => `${name}/`.startsWith(`${top}/`)));
  const is_there = typeof now !== 'string' && wanted.every((name) => now.get(name) === ' ');
  return is_there ? null : fetched.detail;
}

/** The sign of a submodule that is not checked out; a blank is that of one at its commit. */
const NOT_THERE = '-';

/** The submodules of a work tree with the sign that Git gives each; the reason where it cannot tell. */
async function submodulesOf(git: RunGit, tree: string): Promise<Map<string, string> | string> {
  const listed = await git(tree, ['submodule', 'status', '--recursive']);
  if (!listed.ok) return listed.detail;
  // Of each line: a sign, the commit, the path, and where it is checked out, in parentheses, what describes it.
  const lines = [...listed.text.matchAll(/^([ +U-])[0-9a-f]+ (.+?)(?: \([^()]*\))?$/gm)];
  return new Map(lines.map(([, sign = '', name = '']) => [name, sign]));
}

/**
 * Copies what Git ignores in `from` and `.worktreeinclude` names, unless `to` has it. Only files are copied, and no link is
 * followed, in neither of the two. Null on success, else why not.
 */
export async function copyIncluded(
  git: RunGit,
  { from, to }: { from: string; to: string },
  timeout_ms: number,
): Promise<string | null> {
  if ((await lstat(join(from, INCLUDE_FILE)).catch(() => null))?.isFile() !== true) return null;
  const patterns = ['--others', '--ignored', '-z', `--exclude-from=${INCLUDE_FILE}`];
  const named = await git(from, ['ls-files', ...patterns], { timeout_ms });
  if (!named.ok) return named.detail;
  if (named.text === '') return null;
  // It exits with 1 where it prints nothing.
  const ignored = await git(from, ['check-ignore', '-z', '--stdin'], { input: named.text });
  const names = ignored.ok
    ? ignored.text.split('\0').filter((name) => name !== '' && !name.endsWith('/'))
    : [];
  try {
    for (const name of names) await copyOne(from, to, name);
    return null;
  } catch (error) {
    return `a file that ${INCLUDE_FILE} names was not copied (${systemCode(error) ?? String(error)})`;
  }
}

async function copyOne(from: string, to: string, name: string): Promise<void> {
  const parts = name.split('/');
  for (const count of parts.keys()) {
    const part = join(to, ...parts.slice(0, count));
    if ((await lstat(part).catch(() => null))?.isSymbolicLink()) return;
  }
  if (!(await lstat(join(from, name))).isFile()) return;
  await mkdir(dirname(join(to, name)), { recursive: true });
  const once = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;
  await copyFile(join(from, name), join(to, name), once).catch((error: unknown) => {
    if (systemCode(error) !== 'EEXIST') throw error;
  });
}
