import { type CronExpression, type CronExpressionOptions, CronExpressionParser } from 'cron-parser';
import { CodedError, messageOf } from '../base/errors.ts';

/** The names of schedules, as cron programs have them; none for every second, as an agent takes longer to start. */
const NAMED: Readonly<Record<string, string>> = {
  '@minutely': '* * * * *',
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekdays': '0 0 * * 1-5',
  '@weekends': '0 0 * * 0,6',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

/** Throws `invalid_request` for a schedule that is not five cron fields or a known @name. */
export function requireSchedule(schedule: string): string {
  return readSchedule(schedule, (expression) => expression.next()).text;
}

/** `requireSchedule`, and its occurrences after a moment on the wall clock, given as if it were UTC. */
export function scheduleAfter(schedule: string, after: Date): CronExpression {
  return readSchedule(schedule, () => {}, { currentDate: after, tz: 'UTC' }).expression;
}

function readSchedule(
  schedule: string,
  check: (expression: CronExpression) => void,
  options: CronExpressionOptions = {},
): { text: string; expression: CronExpression } {
  const text = schedule.trim();
  try {
    const fields = text.startsWith('@') ? NAMED[text] : text;
    if (fields === undefined) throw new Error(`the names are ${Object.keys(NAMED).join(', ')}`);
    // The parser would fill up missing fields, and take a sixth for seconds.
    if (fields.split(/\s+/).length !== 5) throw new Error('it needs five fields');
    // The parser would choose another time at each read.
    if (/(?<![A-Za-z])H(?![A-Za-z])/.test(fields)) throw new Error('H is no time; write a number');
    const expression = CronExpressionParser.parse(fields, options);
    check(expression);
    return { text, expression };
  } catch (error) {
    throw new CodedError(
      'invalid_request',
      `"${schedule}" is not a cron schedule (${messageOf(error)}); write five fields such as "0 9 * * 1-5"`,
      { cause: error },
    );
  }
}

/** Throws `invalid_request` for a name that is not an IANA time zone. */
export function requireZone(tz: string): string {
  try {
    new Intl.DateTimeFormat('en', { timeZone: tz });
    return tz;
  } catch (error) {
    throw new CodedError('invalid_request', `"${tz}" is not a time zone; write one such as Europe/Paris`, {
      cause: error,
    });
  }
}

const DUE = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** Throws `invalid_request` for a text that is neither a day nor a time of ISO 8601. */
export function requireDue(due: string): string {
  const [, day = ''] = DUE.exec(due) ?? [];
  const exists = !Number.isNaN(Date.parse(due)) && new Date(`${day}T00:00Z`).toISOString().startsWith(day);
  if (day !== '' && exists) return due;
  throw new CodedError('invalid_request', `"${due}" is not a day; write one such as 2026-08-31`);
}
