import { shellWord } from '../../base/shell-word.ts';
import { escapeForTerminal } from '../../base/terminal-text.ts';
import type { Settings } from '../../config/settings.ts';
import { fitColumns, lengthOf, wrapPage, wrapWords } from './fit-width.ts';
import { type CliContext, EXIT, type ExitCode, type Outcome } from './verb.ts';

/** Prints the result of a verb and returns its exit code. */
export function printOutcome(context: CliContext, outcome: Outcome, asJson: boolean): ExitCode {
  if (typeof outcome === 'number') return outcome;
  const { json, text, one_line, warnings = [], faults = [], exit = EXIT.ok } = outcome;
  if (asJson) context.out(`${JSON.stringify(json, null, one_line === true ? 0 : 2)}\n`);
  else context.out(text);
  for (const sentence of asJson ? faults : [...warnings, ...faults]) context.err(`svc: ${sentence}\n`);
  return exit;
}

/**
 * Columns as wide as their widest cell, two spaces apart, under a header in capitals; one row per line. A table that is
 * wider than `width` has its wide cells broken between words; where long words leave no room for columns, each row is a
 * block with its cells one below the other.
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const head = header.map((cell) => cell.toUpperCase());
  const cells = rows.map((row) => row.map(oneLine));
  const most = (measure: (cell: string) => number) =>
    header.map((_, column) => Math.max(...[head, ...cells].map((line) => measure(line[column] ?? ''))));
  const widths = fitColumns(most(lengthOf), most(longestWord), width);
  if (widths === null) return cells.map((row) => formatBlock(header, row, width)).join('');
  return [head, ...cells].map((line) => formatRow(line, widths)).join('');
}

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

function longestWord(cell: string): number {
  return Math.max(...cell.split(' ').map(lengthOf));
}

/** Escaped before it is measured, so that columns fit the text as shown. */
function oneLine(cell: string): string {
  return escapeForTerminal(cell.replace(/\s+/g, ' ').trim());
}

function padEnd(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - lengthOf(cell)));
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** A duration in its largest whole unit: `3 h`, `12 min`, `0 s`. */
export function formatDuration(ms: number): string {
  const unit = UNITS.find(([, size]) => ms >= size);
  return unit === undefined ? '0 s' : `${Math.floor(ms / unit[1])} ${unit[0]}`;
}

/** How long ago or how far ahead a time is (both in milliseconds since the Unix epoch). */
export function formatMoment(at: number, now: number): string {
  return at <= now ? `${formatDuration(now - at)} ago` : `in ${formatDuration(at - now)}`;
}

/** A time to the minute in the zone of this process, as `2026-03-07 09:05`. */
export function formatTime(at: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** How to show the terminal of a new worker; empty for a worker without a terminal. */
export function watchLine(settings: Settings, mux_session: string | null): string {
  return mux_session === null ? '' : `Watch it with: ${svcOf(settings)} attach ${shellWord(mux_session)}\n`;
}

/** The command that runs `svc` with these settings. */
export function svcOf(settings: Settings): string {
  return settings.demo ? 'svc demo' : 'svc';
}
