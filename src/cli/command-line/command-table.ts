import { Command } from 'commander';
import { systemClock } from '../../base/clock.ts';
import { EXAMPLES, type Example, NO_JSON } from '../examples.ts';
import type { CliContext } from './verb.ts';
import type { VerbRow } from './verb-row.ts';

/** An argument or option as its command declares it; `value` is null for a switch. */
export type ArgumentFacts = { name: string; usage: string; description: string };
export type OptionFacts = {
  flags: string;
  names: string[];
  value: string | null;
  optionalValue: boolean;
  description: string;
};

/** One command that can be typed: a verb, or a verb and its second word. */
export type CommandFacts = {
  /** Words after `svc`: `['fiber', 'add']`. */
  path: readonly string[];
  summary: string;
  group: VerbRow['group'];
  usage: string;
  arguments: ArgumentFacts[];
  options: OptionFacts[];
  examples: readonly Example[];
  /** Null where the command takes `--json`, else why it does not. */
  no_json: string | null;
};

/** Reads every command from the verbs themselves, so that help, pages and completion cannot tell otherwise. */
export async function readCommands(verbs: readonly VerbRow[]): Promise<CommandFacts[]> {
  const found: CommandFacts[] = [];
  for (const row of verbs) {
    const command = new Command(row.name).description(row.summary);
    (await row.load()).register(command, unusedContext(), () => {});
    for (const leaf of leaves(command, [row.name])) found.push(factsOf(leaf.command, leaf.path, row.group));
  }
  return found;
}

/** Adds the examples to the help of a verb and of its second words. */
export function addExamples(command: Command, path: readonly string[] = [command.name()]): void {
  const examples = EXAMPLES[path.join(' ')];
  if (examples !== undefined) command.addHelpText('after', exampleText(examples));
  for (const child of command.commands) addExamples(child, [...path, child.name()]);
}

function exampleText(examples: readonly Example[]): string {
  return `\nExamples:\n${examples.map(([line, does]) => `  ${line}\n      ${does}\n`).join('')}`.trimEnd();
}

type Leaf = { command: Command; path: string[] };

function leaves(command: Command, path: string[]): Leaf[] {
  if (command.commands.length === 0) return [{ command, path }];
  const below = command.commands.flatMap((child) => leaves(child, [...path, child.name()]));
  return typesAlone(command) ? [{ command, path }, ...below] : below;
}

/** A verb with second words may also stand alone, when it takes options or arguments of its own. */
function typesAlone(command: Command): boolean {
  return command.options.length > 0 || command.registeredArguments.length > 0;
}

function factsOf(command: Command, path: readonly string[], group: VerbRow['group']): CommandFacts {
  const name = path.join(' ');
  const options = command.options
    .filter((option) => !option.hidden)
    .map((option) => ({
      flags: option.flags,
      names: [option.short, option.long].filter((one) => typeof one === 'string'),
      value: /[<[]([^>\]]+)[>\]]/.exec(option.flags)?.[1] ?? null,
      optionalValue: option.optional,
      description: option.description,
    }));
  return {
    path,
    summary: command.description(),
    group,
    usage: `svc ${name} ${command.usage()}`.trimEnd(),
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      usage: argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
      description: argument.description,
    })),
    options,
    examples: EXAMPLES[name] ?? [],
    no_json: options.some((option) => option.names.includes('--json')) ? null : (NO_JSON[name] ?? ''),
  };
}

/** Registering reads nothing of the process; only an action would. */
function unusedContext(): CliContext {
  const silent = () => {};
  return {
    ...{ env: {}, cwd: '/', clock: systemClock, stdin: process.stdin },
    ...{ out: silent, err: silent, verbatim: silent },
  };
}
