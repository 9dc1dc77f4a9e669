import { escapeForTerminal } from '../../base/terminal-text.ts';
import { cutEnd, cutMiddle, lengthOf } from './fit-width.ts';
import { marksOf } from './glyphs.ts';
import type { Span, Styled, Tone } from './styled-text.ts';
import type { CliContext } from './verb.ts';

export type Screen = Pick<CliContext, 'width' | 'unicode'>;

/** A cell that is shown whole, or the end or the middle of which goes where there is no room. */
export type Cell = {
  text: string;
  cut?: 'end' | 'middle';
  tone?: Tone;
  /** Stands for a text that is cut in fewer than `whole` columns. */
  short?: string;
  whole?: number;
};
/** `below` are commands, which are typed as they are; `aside` stands above them. */
export type ColumnRow = { cells: readonly Cell[]; aside?: string | undefined; below?: readonly string[] };

const INDENT = 2;
const GAP = 2;
/** A column that is cut tells nothing in fewer columns; below its id it has no others beside it that could give more. */
const LEAST_CUT = 16;
const LEAST_STACKED = 8;

/**
 * Rows with their cells in columns and their commands below, for a terminal. An id is never cut: one that leaves the
 * others no room has a line of its own.
 */
export function formatColumns(rows: readonly ColumnRow[], { width, unicode }: Screen): Styled {
  const { cut, between } = marksOf(unicode);
  const shown = rows.map(({ cells, aside, below }) => ({
    cells: cells.map((cell) => ({ ...cell, text: oneLine(cell.text) })),
    aside,
    below: below ?? [],
  }));
  const count = Math.max(0, ...shown.map(({ cells }) => cells.length));
  const columns = Array.from({ length: count }, (_, at) => shown.flatMap(({ cells }) => cells[at] ?? []));
  const wanted = columns.map((cells) => Math.max(...cells.map(({ text }) => lengthOf(text))));
  const most_id = Math.floor(width * 0.45);
  wanted[0] = Math.max(
    0,
    ...(columns[0] ?? []).map(({ text }) => lengthOf(text)).filter((length) => length <= most_id),
  );
  const is_cut = columns.map((cells) => cells.some((cell) => cell.cut !== undefined));
  const cuts = Math.max(1, is_cut.filter(Boolean).length);
  const eachOf = (left: number, columns: readonly number[]) => {
    const whole = columns.reduce((sum, one, at) => sum + (is_cut[at] ? 0 : one), 0);
    return Math.floor((width - left - GAP * (count - 1) - whole) / cuts);
  };
  const beside = eachOf(INDENT, wanted);
  const is_stacked = beside < LEAST_CUT && is_cut.includes(true);
  // Below their ids the others have the room of the ids too.
  if (is_stacked) wanted[0] = 0;
  const each = is_stacked ? Math.max(LEAST_STACKED, eachOf(INDENT, wanted)) : beside;
  const widths = wanted.map((one, at) => (is_cut[at] ? Math.min(one, each) : one));
  return shown.flatMap(({ cells, aside, below }) => {
    const [id, ...rest] = cells.map((cell, at) =>
      fitted(cell, widths[at] ?? 0, cut, at === cells.length - 1),
    );
    if (id === undefined) return [];
    const stands_alone = lengthOf(textOf(id)) > (widths[0] ?? 0);
    const line: Span[] = stands_alone
      ? [spaces(INDENT), id, '\n', spaces(INDENT + (widths[0] ?? 0))]
      : [spaces(INDENT), id];
    for (const cell of rest) line.push(spaces(GAP), cell);
    return [
      ...trimmed(line),
      '\n',
      ...(aside === undefined ? [] : [`${spaces(INDENT + (widths[0] ?? 0) + GAP)}${aside}\n`]),
      ...commandLines(
        unicode ? below : below.map(inAscii),
        INDENT + (widths[0] ?? 0) + GAP,
        width,
        unicode ? between : null,
      ),
    ];
  });
}

/**
 * Commands on one line where they fit, else each on its own; a long one begins further left. Without `between` each is
 * on its own: every mark of ASCII that could stand there is one that the shell reads.
 */
function commandLines(
  commands: readonly string[],
  indent: number,
  width: number,
  between: string | null,
): string[] {
  if (commands.length === 0) return [];
  const joined = between === null ? null : commands.join(between);
  if (joined !== null && indent + lengthOf(joined) <= width) return [`${spaces(indent)}${joined}\n`];
  return commands.map((command) => {
    const left = indent + lengthOf(command) <= width ? indent : 2 * INDENT;
    return `${spaces(left)}${command}\n`;
  });
}

/** Cells with a tab between them, whole and without colour: one line of a file or a pipe. */
export function tabLine(cells: readonly string[]): string {
  return `${cells.map(oneLine).join('\t')}\n`;
}

function fitted(cell: Cell, width: number, mark: string, is_last: boolean): Span {
  const { cut, tone, short: brief, whole = 0 } = cell;
  const text = brief !== undefined && lengthOf(cell.text) > width && whole > width ? brief : cell.text;
  const short =
    cut === 'middle' ? cutMiddle(text, width, mark) : cut === 'end' ? cutEnd(text, width, mark) : text;
  const padded = is_last ? short : `${short}${spaces(width - lengthOf(short))}`;
  return tone === undefined ? padded : { tone, text: padded };
}

function trimmed(line: readonly Span[]): Span[] {
  const kept = [...line];
  for (let last = kept.pop(); last !== undefined; last = kept.pop()) {
    const text = textOf(last).trimEnd();
    if (text === '') continue;
    return [...kept, typeof last === 'string' ? text : { ...last, text }];
  }
  return [];
}

function textOf(span: Span): string {
  return typeof span === 'string' ? span : span.text;
}

/** Escaped before it is measured, so that columns fit the text as shown. */
function oneLine(text: string): string {
  return escapeForTerminal(text.replace(/\s+/g, ' ').trim());
}

function inAscii(command: string): string {
  return command.replaceAll('…', '...');
}

function spaces(count: number): string {
  return ' '.repeat(Math.max(0, count));
}
