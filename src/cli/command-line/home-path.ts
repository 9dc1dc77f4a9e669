import { homedir } from 'node:os';
import { sep } from 'node:path';

/** A path as a person writes it: `~` for the home folder, which `env` may name. */
export function homePath(path: string, env: NodeJS.ProcessEnv): string {
  const home = env.HOME || homedir();
  if (path === home) return '~';
  return path.startsWith(`${home}${sep}`) ? `~${path.slice(home.length)}` : path;
}
