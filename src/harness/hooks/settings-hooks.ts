import { join } from 'node:path';
import { parseCommented } from '../../config/json-splice.ts';
import type { HarnessName } from '../../contract/harness-name.ts';
import type { SharedFile } from '../harness.ts';
import { readOwnText } from '../own-config.ts';
import { asTable } from '../table.ts';
import { hookCommand, isHookCommand, programsOf } from './hook-command.ts';
import { type HookPlace, withHooks, withoutHooks } from './hook-settings.ts';
import { ABSENT, CURRENT, type HookState, judgeProgram, OUTDATED, unlessOff } from './hook-state.ts';

/** Hooks that a program reads from a JSON file in its folder: a list of commands for each event. */
export type SettingsHooks = {
  events: readonly string[];
  /** The file with our hooks added or removed; `onPlaces` receives their positions. */
  file(onPlaces?: (places: HookPlace[]) => void): SharedFile;
  compare(folder: string, env: NodeJS.ProcessEnv): Promise<HookState>;
};

/** `offBy` names the setting of the folder by which the program runs no hooks; null for none. */
export function settingsHooks(
  harness: HarnessName,
  name: string,
  events: readonly string[],
  offBy: (folder: string) => Promise<string | null> = async () => null,
): SettingsHooks {
  return {
    events,
    file: (onPlaces) => ({
      name,
      put(text) {
        const done = withHooks(name, text, events, hookCommand(harness));
        onPlaces?.(done.places);
        return done.text;
      },
      take: (text) => withoutHooks(name, text),
    }),
    async compare(folder, env) {
      const text = (await readOwnText(join(folder, name))) ?? '';
      return unlessOff(await compared(text, events, env), await offBy(folder));
    },
  };
}

async function compared(text: string, events: readonly string[], env: NodeJS.ProcessEnv): Promise<HookState> {
  const commands = commandsIn(text);
  if (commands.length === 0) return ABSENT;
  const judged = await Promise.all(commands.map(({ command }) => judgeProgram(programsOf(command), env)));
  const wrong = judged.find(({ state }) => state !== 'current');
  if (wrong !== undefined) return wrong;
  const told = new Set(commands.map(({ event }) => event));
  return told.size === events.length && events.every((event) => told.has(event)) ? CURRENT : OUTDATED;
}

function commandsIn(text: string): { event: string; command: string }[] {
  try {
    const { hooks } = asTable(parseCommented(text));
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

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
