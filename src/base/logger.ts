import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { requestScope } from './request-scope.ts';
import { escapeForTerminal } from './terminal-text.ts';

/** Structured log: one JSON object a line, `time` in milliseconds, `component` on every line. */
export type Logger = PinoLogger;

/**
 * The logger of one component. Secrets and message text are never passed at info level; what a run says
 * carries `fiber` and `session`, and what is done for a request its `request_id`.
 */
export function createLogger(options: {
  component: string;
  level: string;
  destination?: DestinationStream;
}): Logger {
  const settings = {
    level: options.level,
    base: { component: options.component },
    mixin: ofRequest,
    // A log is read on a terminal too, and quotes what others wrote.
    hooks: { streamWrite: escapeForTerminal },
  };
  return options.destination === undefined ? pino(settings) : pino(settings, options.destination);
}

/** What is logged for a request says for which. */
function ofRequest(): { request_id?: string } {
  const request_id = requestScope();
  return request_id === undefined ? {} : { request_id };
}

/** A logger that writes nothing. */
export const silentLogger: Logger = pino({ level: 'silent' });

/** Standard output, written at once by the calling thread, so that a worker's lines need no other thread's loop. */
export function directDestination(): DestinationStream {
  return pino.destination({ dest: 1, sync: true });
}
