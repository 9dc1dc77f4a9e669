import { type Command, Argument as CommanderArgument, Option as CommanderOption } from 'commander';
import { systemClock } from '../../base/clock.ts';
import { requireSafeId } from '../../fibers/fiber-id.ts';
import { askFirst } from './confirm.ts';
import type { Argument, Option } from './options.ts';
import { printOutcome } from './output.ts';
import type { CliContext, Example, ExitCode, Verb } from './verb.ts';
import { type Family, FOR_PROGRAMS, rowsOf, summaryOf, type VerbRow, type VerbTable } from './verb-table.ts';

/** The context that a verb runs in, the words that were typed, and the receiver of its exit code. */
export type Runner = { context: CliContext; typed: readonly string[]; exit(code: ExitCode): void };

const silent = () => {};
/** For declaring commands without running them: only actions use the process. */
export const NO_PROCESS: Runner = {
  context: {
    ...{ env: {}, cwd: '/', clock: systemClock, stdin: process.stdin },
    ...{ width: Number.POSITIVE_INFINITY, unicode: true, terminal: null, progress: null },
    ...{ out: silent, show: silent, err: silent, verbatim: silent },
  },
  typed: [],
  exit: silent,
};

/** Declares every verb by name, and in full the one that `argv` names. */
export async function declareVerbs(
  program: Command,
  verbs: VerbTable,
  argv: readonly string[],
  runner: Runner,
): Promise<void> {
  const rows = rowsOf(verbs);
  const [word, second] = argv[0] === 'help' ? [argv[1]] : argv;
  const isVerb = rows.some(({ name }) => name === word);
  for (const { name, group, entry } of rows) {
    const command = program.command(name, { hidden: group === FOR_PROGRAMS }).helpGroup(`${group}:`);
    if (name === word) await declareRow(command, entry, runner, second);
    // If no verb is named, the help is shown, which lists them all.
    else if (!isVerb) command.description(await summaryOf(entry));
  }
}

/**
 * Declares a row of the table. Of its subcommands only `second` is loaded; all of them if `second` is none of them,
 * because then the help that lists them is shown.
 */
export async function declareRow(
  command: Command,
  entry: VerbRow['entry'],
  runner: Runner,
  second?: string,
): Promise<void> {
  if (typeof entry === 'function') declare(command, await entry(), runner);
  else await declareFamily(command, entry, runner, second);
}

async function declareFamily(
  command: Command,
  family: Family,
  runner: Runner,
  second: string | undefined,
): Promise<void> {
  const { verbs, implied } = family;
  if (family.alone !== undefined) declare(command, await family.alone(), runner);
  else command.description(family.summary);
  if (family.usage !== undefined) command.usage(family.usage);
  for (const [word, load] of Object.entries(verbs)) {
    const child = command.command(word, { isDefault: word === implied });
    if (second === undefined || second === word || !(second in verbs)) declare(child, await load(), runner);
  }
}

function declare(command: Command, verb: Verb, { context, typed, exit }: Runner): void {
  const named = Object.entries(verb.arguments);
  const options = Object.entries(verb.options).map(([key, one]) => [key, commanderOption(one)] as const);
  command.description(verb.summary);
  if (verb.usage !== undefined) command.usage(verb.usage);
  if (verb.takes_any_option === true) command.allowUnknownOption();
  for (const [, one] of named) command.addArgument(commanderArgument(one));
  for (const [, one] of options) command.addOption(one);
  if (verb.note !== undefined) command.addHelpText('after', `\n${verb.note}`);
  command.addHelpText('after', exampleText(verb.examples));
  command.action(async () => {
    // If the parent command declares the same option, the parser stores its value there.
    const values = command.optsWithGlobals();
    const given = Object.fromEntries([
      ...named.map(([key], at) => [key, command.processedArgs[at]]),
      ...options.map(([key, one]) => [key, values[one.attributeName()]]),
    ]);
    const outcome =
      (await askFirst(verb, context, given, typed)) ?? (await verb.run(context, given as never));
    exit(printOutcome(context, outcome, given.json === true));
  });
}

function exampleText(examples: readonly Example[]): string {
  return `\nExamples:\n${examples.map(([line, does]) => `  ${line}\n      ${does}\n`).join('')}`.trimEnd();
}

function commanderArgument({ usage, description, choices, parse, fallback }: Argument): CommanderArgument {
  const made = new CommanderArgument(usage, description);
  if (choices !== undefined) made.choices(choices);
  const read = parse ?? (/\bfiber\b/.test(usage) ? fiberText : undefined);
  if (read !== undefined) made.argParser(read);
  return fallback === undefined ? made : made.default(fallback);
}

/** A fiber as it is typed. An empty one, as of a variable that is not set, names none for any verb. */
function fiberText(text: string): string {
  if (text.trim() === '') requireSafeId(text);
  return text;
}

/** The option for the parser, with its names and the placeholder of its value. */
export function commanderOption(declared: Option): CommanderOption {
  const { flags, description, choices, parse, fallback, required, hidden } = declared;
  const made = new CommanderOption(flags, description);
  if (choices !== undefined) made.choices(choices);
  if (parse !== undefined) made.argParser(parse);
  if (fallback !== undefined) made.default(fallback);
  return made.makeOptionMandatory(required === true).hideHelp(hidden === true);
}
