import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { shellWord } from '../../../base/shell-word.ts';
import { findExecutable } from '../../../platform/find-executable.ts';

const LINKED = join('node_modules', '.bin');

/**
 * The command that runs this `svc` in a terminal at `cwd`: `svc` if the PATH leads to it, `npx svc` if the folder has
 * it as a dependency, else the launcher's path. Folders that npm adds to the PATH of its scripts do not count, since a
 * terminal does not have them.
 */
export async function ownCommand(options: { path: string; cwd: string; launcher: string }): Promise<string> {
  const { path, cwd, launcher } = options;
  const typed = path
    .split(delimiter)
    .filter((entry) => !entry.endsWith(LINKED))
    .join(delimiter);
  const onPath = await findExecutable('svc', typed);
  if (onPath !== null && isSame(onPath, launcher)) return 'svc';
  if (isSame(join(cwd, LINKED, 'svc'), launcher)) return 'npx svc';
  return shellWord(launcher);
}

function isSame(path: string, launcher: string): boolean {
  return existsSync(path) && realpathSync(path) === realpathSync(launcher);
}
