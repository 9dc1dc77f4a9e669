import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { notOnPath, searchPath } from '../platform/find-executable.ts';
import { READ_LIMITS } from '../platform/read-limits.ts';
import { readRegularText } from '../platform/regular-file.ts';
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

/** A folder and its ancestors, nearest first. */
export function withParents(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...withParents(parent)];
}

/** The root of the repository that contains a folder; for a linked work tree, the root of the main one. */
export async function gitRoot(folder: string): Promise<string | null> {
  for (const candidate of withParents(folder)) {
    const git = join(candidate, '.git');
    if (!(await exists(git))) continue;
    const pointer = await readRegularText(git, READ_LIMITS.short_file).catch(() => '');
    const linked = /^gitdir:\s*(.+?)\/\.git\/worktrees\/[^/\n]+\s*$/m.exec(pointer);
    return linked?.[1] ?? dirname(git);
  }
  return null;
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
