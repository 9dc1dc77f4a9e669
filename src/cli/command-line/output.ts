import { shellWord } from '../../base/shell-word.ts';
import { escapeForTerminal } from '../../base/terminal-text.ts';
import { svcOf } from '../../config/own-command.ts';
import type { Settings } from '../../config/settings.ts';
import { fitColumns, lengthOf, longestWord, wrapPage, wrapWords } from './fit-width.ts';
import { type CliContext, EXIT, type ExitCode, type Outcome } from './verb.ts';

/** Prints the result of a verb and returns its exit code. */
export function printOutcome(context: CliContext, outcome: Outcome, asJson: boolean): ExitCode {
  if (typeof outcome === 'number') return outcome;
  const { json, text, one_line, warnings = [], faults = [], exit = EXIT.ok } = outcome;
  if (asJson) context.out(`${JSON.stringify(json, null, one_line === true ? 0 : 2)}\n`);
  else context.show(text);
  for (const sentence of asJson ? faults : [...warnings, ...faults]) context.err(`svc: ${sentence}\n`);
  return exit;
}

/**
 * Columns as wide as their widest cell, two spaces apart, under a header in capitals; one row per line. A table that is
 * wider than `width` has a long first cell on a line of its own and its wide cells broken between words; where long words
 * leave no room for columns, each row is a block with its cells one below the other. Without a width, for a file or a
 * pipe, a row is a line with a tab between its cells, and there is no header.
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): string {
  const head = header.map((cell) => cell.toUpperCase());
  const cells = rows.map((row) => row.map(oneLine));
  if (width === Number.POSITIVE_INFINITY) return cells.map((row) => `${row.join('\t')}\n`).join('');
  const lines = [head, ...cells];
  const longest = (column: number) => Math.max(...lines.map((line) => lengthOf(line[column] ?? '')));
  const wanted = header.reduce((sum, _, column) => sum + longest(column), 2 * (header.length - 1));
  const standsAlone = (first: string) => wanted > width && lengthOf(first) > width * WIDE_FIRST;
  const beside = lines.map(([first = '', ...rest]) => [standsAlone(first) ? '' : first, ...rest]);
  const most = (measure: (cell: string) => number) =>
    header.map((_, column) => Math.max(...beside.map((line) => measure(line[column] ?? ''))));
  const widths = fitColumns(most(lengthOf), most(longestWord), width);
  if (widths === null) return cells.map((row) => formatBlock(header, row, width)).join('');
  return lines
    .map(([first = ''], at) => {
      const own_lines = standsAlone(first) ? `${wrapWords(first, width).join('\n')}\n` : '';
      return `${own_lines}${formatRow(beside[at] ?? [], widths)}`;
    })
    .join('');
}

/** A longer first cell has a line of its own where the table is too wide for it. */
const WIDE_FIRST = 0.45;

function formatRow(cells: readonly string[], widths: readonly number[]): string {
  const columns = cells.map((cell, column) => wrapWords(cell, widths[column] ?? 0));
  const height = Math.max(...columns.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    columns.map((lines, column) => padEnd(lines[line] ?? '', widths[column] ?? 0)).join('  '),
  )
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

function formatBlock(
  header: readonly string[],
  [first = '', ...rest]: readonly string[],
  width: number,
): string {
  const lines = rest.flatMap((cell, column) =>
    cell === '' || cell === '-' ? [] : [`  ${header[column + 1]}: ${cell}`],
  );
  return wrapPage(`${[first, ...lines].join('\n')}\n`, width);
}

/** Escaped before it is measured, so that columns fit the text as shown. */
function oneLine(cell: string): string {
  return escapeForTerminal(cell.replace(/\s+/g, ' ').trim());
}

function padEnd(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - lengthOf(cell)));
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A duration in milliseconds, in at most two units: `6 s`, `48 min`, `3 h 20 min`, `2 days`. */
export function formatDuration(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / SECOND))} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) {
    const minutes = Math.floor((ms % HOUR) / MINUTE);
    return minutes === 0 ? `${Math.floor(ms / HOUR)} h` : `${Math.floor(ms / HOUR)} h ${minutes} min`;
  }
  const days = Math.floor(ms / DAY);
  return days === 1 ? '1 day' : `${days} days`;
}

const LOCALE = 'en-GB';
// Made at their first use: the first one takes 27 ms, and most commands print none.
const weekday = formatOf({ weekday: 'short' });
const dayAndMonth = formatOf({ day: 'numeric', month: 'short' });
/** `09:05`, in the zone of this process. */
export const formatTimeOfDay = formatOf({ hour: '2-digit', minute: '2-digit', hour12: false });

function formatOf(options: Intl.DateTimeFormatOptions): (at: number) => string {
  let made: Intl.DateTimeFormat | undefined;
  return (at) => {
    made ??= new Intl.DateTimeFormat(LOCALE, options);
    return made.format(at);
  };
}

/**
 * How long ago something was (both in milliseconds since the Unix epoch); from a day on, when it was. A time that is still
 * ahead was told by another clock, and is no duration.
 */
export function formatMoment(at: number, now: number): string {
  if (at - now >= MINUTE) return `${formatClock(at, now)} by its clock`;
  return now - at >= DAY ? formatDay(at, now) : `${formatDuration(now - at)} ago`;
}

/** The same of something that is due, which may be ahead. */
export function formatDue(at: number, now: number): string {
  if (at <= now) return formatMoment(at, now);
  return at - now >= DAY ? formatDay(at, now) : `in ${formatDuration(at - now)}`;
}

/** How long ago something was, in a column: `21 min`, `Thu 09:12`, `12 Nov`. */
export function formatAge(at: number, now: number): string {
  return now - at >= DAY ? formatDay(at, now) : formatDuration(now - at);
}

/** A time as a clock shows it: `15:00` today, `Sat 02:00`, `12 Nov`. */
export function formatClock(at: number, now: number): string {
  return Math.abs(at - now) < DAY && weekday(at) === weekday(now) ? formatTimeOfDay(at) : formatDay(at, now);
}

/** The daemon tells times as in ISO 8601; a person reads a clock. What stands in quotes is somebody's own and stays. */
export function withClock(text: string, now: number): string {
  return text.replace(INSTANT, (at) => formatClock(Date.parse(at), now));
}

const INSTANT = /(?<![‘“'"`\w])\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** The weekday and the time within six days, else the date, with its year where it is another one. */
function formatDay(at: number, now: number): string {
  if (Math.abs(now - at) < 6 * DAY) return `${weekday(at)} ${formatTimeOfDay(at)}`;
  const [then, today] = [new Date(at).getFullYear(), new Date(now).getFullYear()];
  return then === today ? dayAndMonth(at) : `${dayAndMonth(at)} ${then}`;
}

/** The day of a time in the zone of this process: `Thu 20 Nov`, with its year where that is not this one. */
export function formatDate(at: number, now: number): string {
  const [then, today] = [new Date(at).getFullYear(), new Date(now).getFullYear()];
  return `${weekday(at)} ${dayAndMonth(at)}${then === today ? '' : ` ${then}`}`;
}

/** How to show the terminal of a new worker, by its fiber, or by its session where it has none yet. */
export function watchLine(settings: Settings, name: string): string {
  return `Watch it with: ${svcOf(settings)} attach ${shellWord(name)}\n`;
}
