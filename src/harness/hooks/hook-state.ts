import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { findExecutable } from '../../platform/find-executable.ts';
import { hookLauncher } from './hook-command.ts';

/**
 * The state of the hooks that `svc setup` wrote. `gone`: the program they run does not exist; `elsewhere`: they run the
 * svc of another installation; `outdated`: another version of this installation wrote them.
 */
export type HookState = {
  state: 'absent' | 'current' | 'outdated' | 'elsewhere' | 'gone';
  /** Path of that program, for `elsewhere` and `gone`. */
  program: string | null;
};

export const ABSENT: HookState = { state: 'absent', program: null };
export const CURRENT: HookState = { state: 'current', program: null };
export const OUTDATED: HookState = { state: 'outdated', program: null };

/** Judges the words before `hook`: either Node and a launcher, or one program. */
export function judgeProgram(words: readonly string[], env: NodeJS.ProcessEnv): HookState {
  for (const word of words) {
    const path = isAbsolute(word) ? word : findExecutable(word, env.PATH ?? '');
    if (path === null || !existsSync(path)) return { state: 'gone', program: word };
    if (word === words.at(-1) && realpathSync(path) !== realpathSync(hookLauncher()))
      return { state: 'elsewhere', program: path };
  }
  return words.length === 0 ? OUTDATED : CURRENT;
}
