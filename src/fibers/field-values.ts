import { CronExpressionParser } from 'cron-parser';
import { CodedError, messageOf } from '../base/errors.ts';

/** Throws `invalid_request` for a schedule that is not five cron fields or a known @name. */
export function requireSchedule(schedule: string): string {
  const text = schedule.trim();
  const wellFormed = text.startsWith('@') || text.split(/\s+/).length === 5;
  try {
    if (!wellFormed) throw new Error('it needs five fields');
    CronExpressionParser.parse(text).next();
    return text;
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
