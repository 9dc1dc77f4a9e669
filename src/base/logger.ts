import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { LogDestination, type LogDestinationOptions } from './log-destination.ts';
import { requestScope } from './request-scope.ts';
import { escapeForTerminal } from './terminal-text.ts';

/** Structured log: one JSON object a line, `time` in milliseconds, `component` on every line. */
export type Logger = PinoLogger;

/**
 * The logger of one component. Secrets and message text are never passed at info level. Lines about a run carry `fiber`
 * and `session`; lines about a request carry its `request_id`.
 */
export function createLogger(options: {
  component: string;
  level: string;
  destination: DestinationStream;
}): Logger {
  const settings = {
    level: options.level,
    base: { component: options.component },
    mixin: ofRequest,
    // Logs are read on terminals and quote untrusted text, so control characters are escaped.
    hooks: { streamWrite: escapeForTerminal },
  };
  const { destination } = options;
  const logger = pino(settings, destination);
  if (destination instanceof LogDestination)
    destination.onLost = (lines) =>
      logger.warn({ lines }, 'lines of this log are lost: they could not be written');
  return logger;
}

/** Adds the id of the current request to a line. */
function ofRequest(): { request_id?: string } {
  const request_id = requestScope();
  return request_id === undefined ? {} : { request_id };
}

/** A logger that writes nothing. */
export const silentLogger: Logger = pino({ level: 'silent' });

/** Standard output as the log of one thread, which writes its last lines as it ends. */
export function standardOutput(options: Pick<LogDestinationOptions, 'sync'>): LogDestination {
  const destination = new LogDestination(options);
  process.on('exit', () => destination.flushSync());
  return destination;
}
