import { isCoded, messageOf } from '../base/errors.ts';
import { printJson } from './output.ts';
import { type CliContext, EXIT, type ExitCode } from './verb.ts';

const EXIT_OF_CODE: Readonly<Record<string, ExitCode>> = {
  daemon_unreachable: EXIT.unreachable,
};

/**
 * Tells the person what went wrong and chooses the exit code: the only place that does.
 * With `json`, the same goes to stdout as `{error, message, …details}`.
 */
export function reportError(error: unknown, context: CliContext, json: boolean): ExitCode {
  const coded = isCoded(error);
  const code = coded ? error.code : 'internal';
  const message = messageOf(error);
  if (json) printJson(context, { ...(coded ? error.details : {}), error: code, message });
  else context.err(`svc: ${message}\n`);
  if (!coded && error instanceof Error && debugs(context)) context.err(`${error.stack ?? ''}\n`);
  return EXIT_OF_CODE[code] ?? EXIT.refused;
}

function debugs(context: CliContext): boolean {
  return context.env.SVC_LOG_LEVEL === 'debug' || context.env.SVC_LOG_LEVEL === 'trace';
}
