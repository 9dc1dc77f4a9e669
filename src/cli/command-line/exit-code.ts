import { isCoded, messageOf } from '../../base/errors.ts';
import { systemMend } from './system-mend.ts';
import { type CliContext, EXIT, type ExitCode } from './verb.ts';

const EXIT_OF_CODE: Readonly<Record<string, ExitCode>> = {
  daemon_unreachable: EXIT.unreachable,
  // What was typed is wrong, whoever found it out: the options, the verb, or the daemon.
  invalid_request: EXIT.usage,
};

/**
 * Tells the person what went wrong and chooses the exit code: the only place that does.
 * With `json`, the same goes to stderr as `{error, message, …details}`.
 */
export function reportError(error: unknown, context: CliContext, json: boolean): ExitCode {
  const coded = isCoded(error);
  const code = coded ? error.code : 'internal';
  const mend = coded ? null : systemMend(error);
  const message = mend === null ? messageOf(error) : `${messageOf(error)}; ${mend}`;
  if (json) reportJson(context, { ...(coded ? error.details : {}), error: code, message });
  else context.err(`svc: ${message}\n`);
  if (!coded && error instanceof Error && debugs(context)) context.err(`${error.stack ?? ''}\n`);
  return EXIT_OF_CODE[code] ?? EXIT.refused;
}

/** Tells a program what went wrong, on stderr, so that stdout holds answers alone. */
export function reportJson(context: CliContext, body: { error: string; message: string }): void {
  context.err(`${JSON.stringify(body)}\n`);
}

function debugs(context: CliContext): boolean {
  return context.env.SVC_LOG_LEVEL === 'debug' || context.env.SVC_LOG_LEVEL === 'trace';
}
