import { realpathSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { findExecutable } from '../../platform/find-executable.ts';
import { realPathOfForeign } from '../../platform/foreign-paths.ts';
import { hookScript } from './hook-command.ts';

/**
 * The state of the hooks that `svc setup` wrote. `gone`: the program they run does not exist; `elsewhere`: they run the
 * svc of another installation; `outdated`: another version of this installation wrote them; `off`: the agent program runs
 * none of its hooks.
 */
export type HookState = {
  state: 'absent' | 'current' | 'outdated' | 'elsewhere' | 'gone' | 'off';
  /** Path of that program, for `elsewhere` and `gone`. */
  program: string | null;
  /** The setting that switches the hooks off, and its file, for `off`. */
  off_by?: string;
};

export const ABSENT: HookState = { state: 'absent', program: null };
export const CURRENT: HookState = { state: 'current', program: null };
/** `found` of hooks that the program may not run at all: `off_by` is the setting that says so, null for none. */
export function unlessOff(found: HookState, off_by: string | null): HookState {
  return found.state === 'absent' || off_by === null ? found : { state: 'off', program: null, off_by };
}

export const OUTDATED: HookState = { state: 'outdated', program: null };

/** Judges what a hook runs: Node and, last, the script. None are known of a hook that an earlier version wrote. */
export async function judgeProgram(words: readonly string[], env: NodeJS.ProcessEnv): Promise<HookState> {
  for (const word of words) {
    const path = isAbsolute(word) ? word : await findExecutable(word, env.PATH ?? '');
    const real = path === null ? null : await realPathOfForeign(path).catch(() => null);
    if (path === null || real === null) return { state: 'gone', program: word };
    if (word === words.at(-1) && real !== realpathSync(hookScript()))
      return { state: 'elsewhere', program: path };
  }
  return words.length === 0 ? OUTDATED : CURRENT;
}
