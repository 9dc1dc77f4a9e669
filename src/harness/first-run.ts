import { notOnPath, searchPath } from '../platform/find-executable.ts';
import { findGit } from '../platform/git-folder.ts';
import type { HarnessFinding } from './adapter.ts';
import type { AgentEnvironment } from './agent-environment.ts';
import type { FirstRunQuery } from './harness.ts';

/** A finding if the agent's executable cannot be found; else none. */
export async function checkExecutable(
  query: FirstRunQuery,
  environment: AgentEnvironment,
): Promise<HarnessFinding[]> {
  const { cli, id } = query.agent;
  const path = environment.get('PATH') ?? '';
  const { found, silent } = await searchPath(cli, path, query.project_dir ?? undefined);
  if (found !== null) return [];
  const where = cli.includes('/') ? 'no executable has that path' : notOnPath(silent);
  return [
    {
      severity: 'error',
      what: `agent ${id} runs "${cli}", and ${where}`,
      mend: `install it, or set "cli" of ${id} in agents.json to its absolute path`,
    },
  ];
}

/** The root of the repository that contains a folder; for a linked work tree, the root of the main one. */
export async function gitRoot(folder: string): Promise<string | null> {
  const found = await findGit(folder);
  if (found === null) return null;
  return /^(.+?)\/\.git\/worktrees\/[^/]+$/.exec(found.linked ?? '')?.[1] ?? found.top;
}
