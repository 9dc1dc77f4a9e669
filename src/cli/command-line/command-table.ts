import { Command } from 'commander';
import { commanderOption, declareRow, NO_PROCESS } from './commander.ts';
import type { Argument, Completes, Option } from './options.ts';
import type { Verb } from './verb.ts';
import { type Load, rowsOf, type VerbTable } from './verb-table.ts';

type ArgumentFacts = Omit<Argument, 'completes'> & { name: string; completes: Completes | null };
/** `names`: the short and the long one; `value`: the placeholder of its value in the help, null for a switch. */
type OptionFacts = Omit<Option, 'completes'> & {
  names: string[];
  value: string | null;
  completes: Completes | null;
};

/** One command that can be typed: a verb, or a verb and its subcommand. */
export type CommandFacts = {
  /** Words after `svc`: `['fiber', 'add']`. */
  path: readonly string[];
  group: string;
  usage: string;
  arguments: ArgumentFacts[];
  /** Without options that the help hides. */
  options: OptionFacts[];
  verb: Verb;
};

/** Every command of a table with its declaration, for the reference page and the completion scripts. */
export async function readCommands(table: VerbTable): Promise<CommandFacts[]> {
  const found: CommandFacts[] = [];
  for (const { name, group, entry } of rowsOf(table)) {
    const command = new Command(name);
    await declareRow(command, entry, NO_PROCESS);
    const add = async (path: readonly string[], load: Load, made: Command) =>
      found.push(factsOf(path, group, await load(), made));
    if (typeof entry === 'function') await add([name], entry, command);
    else {
      if (entry.alone !== undefined) await add([name], entry.alone, command);
      for (const [at, [word, load]] of Object.entries(entry.verbs).entries())
        await add([name, word], load, command.commands[at]!);
    }
  }
  return found;
}

function factsOf(path: readonly string[], group: string, verb: Verb, command: Command): CommandFacts {
  return {
    path,
    group,
    usage: `svc ${path.join(' ')} ${command.usage()}`.trimEnd(),
    arguments: Object.values(verb.arguments).map((one) => {
      const name = one.usage.replace(/[<>[\]]|[.]{3}/g, '');
      return { ...one, name, usage: one.usage.replace('...', ''), completes: completesOf(one, name) };
    }),
    options: Object.values(verb.options)
      .filter(({ hidden }) => hidden !== true)
      .map((one) => {
        const { short, long } = commanderOption(one);
        const value = /[<[]([^>\]]+)[>\]]/.exec(one.flags)?.[1] ?? null;
        const names = [short, long].filter((name) => typeof name === 'string');
        return { ...one, names, value, completes: value === null ? null : completesOf(one, value) };
      }),
    verb,
  };
}

/** What an argument or option completes to; the name decides if the declaration does not. */
function completesOf({ completes, choices }: Argument | Option, name: string): Completes | null {
  if (completes !== undefined) return completes;
  return choices ?? COMPLETED_BY_NAME[name] ?? null;
}

const COMPLETED_BY_NAME: Readonly<Record<string, Completes>> = {
  fiber: 'fibers',
  agent: 'agents',
  dir: 'folders',
};
