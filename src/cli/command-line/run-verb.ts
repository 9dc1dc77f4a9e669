import { Command, CommanderError } from 'commander';
import { readDemoCall } from '../verbs/demo/call.ts';
import { VERBS } from '../verbs.ts';
import { declareVerbs } from './commander.ts';
import { reportError, reportJson } from './exit-code.ts';
import { NEWCOMER } from './newcomer.ts';
import { type CliProcess, withSafeOutput } from './safe-output.ts';
import { type CliContext, EXIT, type ExitCode } from './verb.ts';
import type { VerbTable } from './verb-table.ts';

/** Runs the verb that a command line names and returns its exit code; an invalid command line is a usage error. */
export async function runVerb(
  argv: readonly string[],
  given: CliProcess,
  verbs: VerbTable = VERBS,
): Promise<ExitCode> {
  // Verbs see only this context, so none can bypass the escaping.
  const context = withSafeOutput(given);
  if (argv.length === 0) {
    context.out(NEWCOMER);
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
  argv: readonly string[],
  context: CliContext,
  verbs: VerbTable,
  json: boolean,
): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  const runner = {
    context,
    exit: (chosen: ExitCode) => {
      code = chosen;
    },
  };
  const program = createProgram(json ? { ...context, err: () => {} } : context);
  await declareVerbs(program, verbs, argv, runner);
  await program.parseAsync([...argv], { from: 'user' });
  return code;
}

function createProgram(context: CliContext): Command {
  return new Command('svc')
    .description('Supervises coding agents that work on markdown task documents.')
    .usage('<verb> [options]')
    .option('-V, --version', 'show the version')
    .configureOutput({
      writeOut: context.out,
      writeErr: context.err,
      outputError: (text, write) => write(text.replace(/^error: /, 'svc: ')),
    })
    .helpCommand('help [verb]', 'Show all verbs, or how one is used')
    .addHelpText('after', '\nEach verb takes --help. The pages for operators are in ops/ of the package.')
    .showHelpAfterError('(svc help shows how it is used)')
    .exitOverride();
}

/** The message for an invalid command line, on one line; a verb without its subcommand has only its help to show. */
function usageMessage(error: CommanderError): string {
  const sentence = error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
  return error.code === 'commander.help' ? 'the verb needs a subcommand; its --help lists them' : sentence;
}

function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end === -1 ? argv : argv.slice(0, end)).includes('--json');
}
