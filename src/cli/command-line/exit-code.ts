import { isCoded, messageOf } from '../../base/errors.ts';
import { withClock } from './output.ts';
import { systemMend } from './system-mend.ts';
import { asTyped } from './typed-command.ts';
import { type CliContext, EXIT, type ExitCode } from './verb.ts';

const EXIT_OF_CODE: Readonly<Record<string, ExitCode>> = {
  daemon_unreachable: EXIT.unreachable,
  outcome_unknown: EXIT.unreachable,
  // A mistake on the command line, whether the options, the verb or the daemon found it.
  invalid_request: EXIT.usage,
};

/**
 * Prints an error and chooses the exit code; no other code does. With `json`, stderr gets `{error, message, …details}`.
 */
export function reportError(error: unknown, context: CliContext, json: boolean): ExitCode {
  const coded = isCoded(error);
  const code = coded ? error.code : 'internal';
  const mend = coded ? null : systemMend(error);
  const message = asTyped(mend === null ? messageOf(error) : `${messageOf(error)}; ${mend}`, context);
  if (json) reportJson(context, { ...(coded ? error.details : {}), error: code, message });
  else context.err(`svc: ${withClock(message, context.clock.now())}\n`);
  if (!coded && error instanceof Error && debugs(context)) context.err(`${error.stack ?? ''}\n`);
  return EXIT_OF_CODE[code] ?? EXIT.refused;
}

/** Prints an error as JSON on stderr, so that stdout contains only results. */
export function reportJson(context: CliContext, body: { error: string; message: string }): void {
  context.err(`${JSON.stringify(body)}\n`);
}

function debugs(context: CliContext): boolean {
  return context.env.SVC_LOG_LEVEL === 'debug' || context.env.SVC_LOG_LEVEL === 'trace';
}
