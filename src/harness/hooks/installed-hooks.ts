import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { HARNESS_NAMES, type HarnessName } from '../../contract/harness-name.ts';
import { findExecutable } from '../../platform/find-executable.ts';
import { READ_LIMITS } from '../../platform/read-limits.ts';
import { readRegularTextSync } from '../../platform/regular-file.ts';
import { PI_EXTENSION, piExtension } from '../pi/extension.ts';
import { asTable } from '../table.ts';
import { HOOK_EVENTS, hookLauncher, isHookCommand, programOf } from './hook-command.ts';
import { harnessHome } from './worker-skills.ts';

/**
 * The hooks that a setup wrote into a harness's own place. `gone`: they run a program that is not there;
 * `elsewhere`: they run the svc of another installation; `outdated`: another version of this one wrote them.
 */
export type HookState = {
  harness: HarnessName;
  state: 'absent' | 'current' | 'outdated' | 'elsewhere' | 'gone';
  /** Path of the program that is meant, for `elsewhere` and `gone`. */
  program: string | null;
};

/** How the hooks in each harness's own place compare with those that this installation writes. */
export function compareHooks(env: NodeJS.ProcessEnv): HookState[] {
  return HARNESS_NAMES.map((harness) => {
    const home = harnessHome(harness, env);
    return { harness, ...(harness === 'pi' ? ofExtension(home, env) : ofSettings(harness, home, env)) };
  });
}

type Found = Pick<HookState, 'state' | 'program'>;
const ABSENT: Found = { state: 'absent', program: null };
const CURRENT: Found = { state: 'current', program: null };
const OUTDATED: Found = { state: 'outdated', program: null };

function ofSettings(harness: 'claude' | 'codex', home: string, env: NodeJS.ProcessEnv): Found {
  const file = harness === 'claude' ? 'settings.json' : 'hooks.json';
  const commands = commandsIn(textOf(join(home, file)) ?? '');
  if (commands.length === 0) return ABSENT;
  const wrong = commands
    .map(({ command }) => judge(programOf(command), env))
    .find(({ state }) => state !== 'current');
  if (wrong !== undefined) return wrong;
  const told = new Set(commands.map(({ event }) => event));
  const wanted: readonly string[] = HOOK_EVENTS[harness];
  return told.size === wanted.length && wanted.every((event) => told.has(event)) ? CURRENT : OUTDATED;
}

function ofExtension(home: string, env: NodeJS.ProcessEnv): Found {
  const text = textOf(join(home, 'extensions', PI_EXTENSION));
  if (text === null) return ABSENT;
  const argv = wordsIn(/^const \[program, \.\.\.words\] = (\[.*\]);$/m.exec(text)?.[1] ?? '');
  if (argv === null) return OUTDATED;
  const found = judge(argv.slice(0, Math.max(argv.indexOf('hook'), 0)), env);
  if (found.state !== 'current') return found;
  return text === piExtension(argv) ? CURRENT : OUTDATED;
}

/** Judges the words before `hook`: a Node and a launcher, or one program. */
function judge(words: readonly string[], env: NodeJS.ProcessEnv): Found {
  for (const word of words) {
    const path = isAbsolute(word) ? word : findExecutable(word, env.PATH ?? '');
    if (path === null || !existsSync(path)) return { state: 'gone', program: word };
    if (word === words.at(-1) && realpathSync(path) !== realpathSync(hookLauncher()))
      return { state: 'elsewhere', program: path };
  }
  return words.length === 0 ? OUTDATED : CURRENT;
}

function commandsIn(text: string): { event: string; command: string }[] {
  try {
    const { hooks } = asTable(JSON.parse(text));
    return Object.entries(asTable(hooks)).flatMap(([event, groups]) =>
      listOf(groups)
        .flatMap((group) => listOf(asTable(group).hooks))
        .map((handler) => asTable(handler).command)
        .filter((command): command is string => typeof command === 'string' && isHookCommand(command))
        .map((command) => ({ event, command })),
    );
  } catch {
    return [];
  }
}

function wordsIn(json: string): string[] | null {
  try {
    const words: unknown = JSON.parse(json);
    return Array.isArray(words) && words.every((word) => typeof word === 'string') ? words : null;
  } catch {
    return null;
  }
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(path: string): string | null {
  try {
    return readRegularTextSync(path, READ_LIMITS.harness_config);
  } catch {
    return null;
  }
}
