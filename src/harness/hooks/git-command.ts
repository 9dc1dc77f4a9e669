import { resolve } from 'node:path';

const SHELLS = new Set(['bash', 'shell', 'exec_command', 'local_shell', 'run_shell_command']);
/** Verbs of Git that make commits. */
const COMMITS = /\s(?:commit|merge|cherry-pick|revert|rebase|am|pull)\b/;

/**
 * The folder of a commit that a shell command may have made; null if it made none. The caller asks Git itself, so a
 * wrong guess costs only one `git` call.
 */
export function commitFolder(
  tool: string | null,
  input: Record<string, unknown>,
  cwd: string | null,
): string | null {
  if (tool === null || cwd === null || !SHELLS.has(tool.toLowerCase())) return null;
  const text = input.command ?? input.cmd;
  const command = Array.isArray(text) ? text.join(' ') : text;
  if (typeof command !== 'string' || !command.split(/[|;&\n]/).some(commits)) return null;
  const [, folder] =
    /\bgit\s+-C\s+("[^"]+"|'[^']+'|\S+)/.exec(command) ??
    /(?:^|[;&]\s*)cd\s+("[^"]+"|'[^']+'|[^\s;&]+)\s*(?:&&|;|\n)/.exec(command) ??
    [];
  return folder === undefined ? cwd : resolve(cwd, folder.replace(/^(["'])(.*)\1$/, '$2'));
}

/** Takes one pass: a single expression for both words would restart at each `git` of a long command. */
function commits(part: string): boolean {
  const git = part.search(/\bgit\b/);
  return git >= 0 && COMMITS.test(part.slice(git));
}
