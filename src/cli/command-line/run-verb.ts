import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { foreignMountsOf } from '../../platform/foreign-mounts.ts';
import { packageRoot } from '../../platform/package-root.ts';
import { VERBS } from '../verbs.ts';
import { declareVerbs } from './commander.ts';
import { readDemoCall } from './demo-call.ts';
import { reportError, reportJson } from './exit-code.ts';
import { wrapPage } from './fit-width.ts';
import { helpAsOption, requireKnownVerb, verbWords } from './known-verb.ts';
import { NEWCOMER } from './newcomer.ts';
import { type CliProcess, withSafeOutput } from './safe-output.ts';
import { svcIn } from './typed-command.ts';
import { type CliContext, EXIT, type ExitCode } from './verb.ts';
import type { VerbTable } from './verb-table.ts';

/** Runs the verb that a command line names and returns its exit code; an invalid command line is a usage error. */
export async function runVerb(
  typed: readonly string[],
  process: CliProcess,
  verbs: VerbTable = VERBS,
): Promise<ExitCode> {
  const { argv, colour } = readColour(typed);
  const given = colour ? process : { ...process, colour };
  // Verbs see only this context, so none can bypass the escaping.
  const context = withSafeOutput(given);
  if (argv.length === 0) {
    context.out(wrapPage(NEWCOMER, context.width));
    return EXIT.ok;
  }
  const json = asksForJson(argv);
  try {
    const onDemo = readDemoCall(argv);
    if (onDemo !== null) {
      const { demoContext } = await import('../verbs/demo/environment.ts');
      return await runVerb(onDemo.argv, demoContext(given, onDemo.dir), verbs);
    }
    return await parseAndRun(argv, context, verbs, json);
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(error, context, json);
    if (error.exitCode === 0) return EXIT.ok;
    if (json) reportJson(context, { error: 'invalid_request', message: usageMessage(error) });
    return EXIT.usage;
  }
}

/** The same without error reporting: throws the verb's errors, and `CommanderError` for an invalid command line. */
export async function parseAndRun(
  typed: readonly string[],
  context: CliContext,
  verbs: VerbTable,
  json: boolean,
): Promise<ExitCode> {
  const argv = helpAsOption(typed);
  const svc = svcIn(context);
  await requireKnownVerb(argv, verbs, svc);
  let code: ExitCode = EXIT.ok;
  const runner = {
    context,
    typed: argv,
    exit: (chosen: ExitCode) => {
      code = chosen;
    },
  };
  const help = [svc, 'help', ...verbWords(argv, verbs)].join(' ');
  const program = createProgram(json ? { ...context, err: () => {} } : context, help);
  await declareVerbs(program, verbs, argv, runner);
  if (foreignMountsOf([], { anywhere: true, answering: [] }).length > 0) {
    const { askOperatorFiles } = await import('../operator-disks.ts');
    await askOperatorFiles(context.env);
  }
  await program.parseAsync([...argv], { from: 'user' });
  return code;
}

/** `help` is the command that shows how the verb is used. */
function createProgram(context: CliContext, help: string): Command {
  return new Command('svc')
    .description('Supervises coding agents that work on markdown task documents.')
    .usage('<verb> [options]')
    .option('-V, --version', 'show the version')
    .option('--no-color', 'print without colour, as NO_COLOR does')
    .configureOutput({
      // The parser breaks its own lines only, and not the notes and examples of a verb.
      writeOut: (text) => context.out(wrapPage(text, context.width)),
      writeErr: context.err,
      outputError: (text, write) => write(text.replace(/^error: /, 'svc: ')),
    })
    .helpCommand('help [verb…]', 'Show all verbs, or how one is used')
    .addHelpText(
      'after',
      `\nEach verb takes --help. All pages for operators: ${join(packageRoot(), 'ops', 'README.md')}`,
    )
    .showHelpAfterError(`(${help} shows how it is used)`)
    .exitOverride();
}

/** The message for an invalid command line, on one line; a verb without its subcommand has only its help to show. */
function usageMessage(error: CommanderError): string {
  const sentence = error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
  return error.code === 'commander.help' ? 'the verb needs a subcommand; its --help lists them' : sentence;
}

function asksForJson(argv: readonly string[]): boolean {
  return ownWords(argv).includes('--json');
}

/** `--no-color` may stand anywhere, like an option of every verb. */
function readColour(argv: readonly string[]): { argv: readonly string[]; colour: boolean } {
  const own = ownWords(argv);
  if (!own.includes('--no-color')) return { argv, colour: true };
  return { argv: [...own.filter((word) => word !== '--no-color'), ...argv.slice(own.length)], colour: false };
}

/** The words before `--`, after which they belong to somebody else. */
function ownWords(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end === -1 ? argv : argv.slice(0, end);
}
