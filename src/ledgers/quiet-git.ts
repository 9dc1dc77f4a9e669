import { NEUTRAL_DIRECTORY } from '../platform/piped-process.ts';
import type { ProcessCall } from '../platform/process.ts';

/** What the settings of a repository could make Git start, of all that reading it may touch. */
const STARTS_NOTHING = [
  ...['--no-pager', '--no-optional-locks', '--no-replace-objects'],
  ...['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-c', 'log.showRoot=true'],
];

/** Options of commands that show changes: no program makes the text of them. */
export const AS_TEXT = ['--no-ext-diff', '--no-textconv', '--no-color'] as const;

/** A setting for one run, such as `filter.lfs.clean`; its name may hold any character. */
export type GitSetting = readonly [name: string, value: string];

/**
 * Git in a repository that may be hostile: it runs no hook and no program that the repository names, takes no lock, fetches
 * nothing, and asks for nothing. Where it compares the working tree, `settings` must empty the filters as well.
 */
export function quietGit(
  folder: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  settings: readonly GitSetting[] = [],
): Pick<ProcessCall, 'file' | 'args' | 'cwd' | 'env'> {
  return {
    file: 'git',
    // The folder is an argument, because a start in the folder of a silent disk would block this thread.
    args: [...STARTS_NOTHING, '-C', folder, ...args],
    cwd: NEUTRAL_DIRECTORY,
    env: { ...gitEnvironment(env), ...asVariables(settings) },
  };
}

/** The caller's, without what would turn Git to another repository, another program or another machine. */
function gitEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = Object.entries(env).filter(([name]) => !name.startsWith('GIT_'));
  // A repository that has only a part of its objects would fetch the others.
  return { ...Object.fromEntries(own), GIT_ALLOW_PROTOCOL: '', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
}

/** An option `-c` would take what stands before the first `=` for the name. */
function asVariables(settings: readonly GitSetting[]): NodeJS.ProcessEnv {
  const each = settings.flatMap(([name, value], nth) => [
    [`GIT_CONFIG_KEY_${nth}`, name],
    [`GIT_CONFIG_VALUE_${nth}`, value],
  ]);
  return each.length === 0 ? {} : { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(each) };
}
