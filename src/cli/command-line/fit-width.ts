import stringWidth from 'string-width';

/** Narrowest width, in columns, that a page is laid out for. */
export const LEAST_WIDTH = 40;

/**
 * A text in lines of at most this many columns, broken between words; only a word that is longer than a line is cut.
 * Lines after the first one begin with `hanging`.
 */
export function wrapWords(text: string, width: number, hanging = ''): string[] {
  const [first = '', ...words] = text.split(' ');
  const lines = cutLong([first], width, hanging);
  for (const word of words) {
    const line = lines.pop()!;
    const joined = `${line} ${word}`;
    if (line.trim() === '' || lengthOf(joined) <= width) lines.push(joined);
    else lines.push(line, `${hanging}${word}`);
    cutLong(lines, width, hanging);
  }
  return lines;
}

/** Breaks the last of these lines, where it is too long, as often as needed. */
function cutLong(lines: string[], width: number, hanging: string): string[] {
  while (lengthOf(lines.at(-1)!) > width) {
    const long = lines.pop()!;
    const start = startOf(long, width) || firstOf(long);
    lines.push(start, `${hanging}${long.slice(start.length)}`);
    // One character that is wider than the line stands alone.
    if (long.length === start.length) return lines.slice(0, -1);
  }
  return lines;
}

/** Prose in at most this many columns: its end goes, and `mark` stands for it. */
export function cutEnd(text: string, width: number, mark = '…'): string {
  return lengthOf(text) <= width ? text : `${startOf(text, width - lengthOf(mark)).trimEnd()}${mark}`;
}

/** A path in at most this many columns: its middle goes, since its last part tells most. */
export function cutMiddle(path: string, width: number, mark = '…'): string {
  if (lengthOf(path) <= width) return path;
  const room = width - lengthOf(mark);
  const start = startOf(path, Math.floor(room / 3));
  const characters = [...graphemes.segment(path)].map(({ segment }) => segment);
  let end = '';
  for (const character of characters.toReversed()) {
    if (lengthOf(start) + lengthOf(character) + lengthOf(end) > room) break;
    end = `${character}${end}`;
  }
  return `${start}${mark}${end}`;
}

const graphemes = new Intl.Segmenter();

/** As much of the beginning of a text as fits. */
function startOf(text: string, width: number): string {
  let start = '';
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    used += lengthOf(segment);
    if (used > width) break;
    start += segment;
  }
  return start;
}

function firstOf(text: string): string {
  return graphemes.segment(text)[Symbol.iterator]().next().value?.segment ?? '';
}

/**
 * A page in lines of at most this many columns. What follows on a broken line is indented below it; a line of a
 * screen keeps its mark, so that none of its parts can pass for a line of the page. A command that fits on a line is not broken.
 */
export function wrapPage(page: string, width: number): string {
  if (width === Number.POSITIVE_INFINITY) return page;
  return page
    .split('\n')
    .flatMap((line) => (lengthOf(line) <= width ? [line] : wrapSentence(line, width, hangingOf(line))))
    .join('\n');
}

/** As `wrapWords`, and a command stays on one line where that is long enough, so that it can be copied. */
export function wrapSentence(text: string, width: number, hanging = ''): string[] {
  const room = width - lengthOf(hanging);
  const joined = text.replace(COMMAND, (command) =>
    lengthOf(command) > room ? command : command.replaceAll(' ', JOINED),
  );
  return wrapWords(joined, width, hanging).map((part) => part.replaceAll(JOINED, ' '));
}

const COMMAND = /`[^`]*`|(?<=: )svc [^;]+/g;
const JOINED = '\u00a0';

/**
 * A command, given as words for the shell, that can be copied whole: where it is broken, the shell is told that it goes
 * on. A word that is longer than a line is not broken.
 */
export function continuedLine(label: string, words: readonly string[], width: number): string {
  const whole = `${label} ${words.join(' ')}`;
  if (lengthOf(whole) <= width) return whole;
  const lines: string[] = [];
  for (const word of words) {
    const joined = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && lengthOf(joined) <= width - 4) lines.splice(-1, 1, joined);
    else lines.push(word);
  }
  return [label, ...lines.map((line, nth) => `  ${line}${nth < lines.length - 1 ? ' \\' : ''}`)].join('\n');
}

function hangingOf(line: string): string {
  const [lead = ''] = /^ *(\| )?/.exec(line) ?? [];
  return lead.endsWith('| ') ? lead : `${lead}  `;
}

/**
 * Widths of columns, two spaces apart, that fit into `width`; null where not even the longest words do. Narrow columns
 * keep their width, and the wide ones share the rest.
 */
export function fitColumns(
  wanted: readonly number[],
  least: readonly number[],
  width: number,
): number[] | null {
  let room = width - 2 * (wanted.length - 1);
  if (sum(least) > room) return null;
  const fitted = [...wanted];
  const open = new Set(wanted.keys());
  const share = () => Math.floor(room / open.size);
  const settle = (column: number, needs: number) => {
    fitted[column] = needs;
    room -= needs;
    open.delete(column);
  };
  // First those that want no more than their share of what is left, then one that needs more for its longest word.
  while (open.size > 0) {
    const narrow = [...open].find((column) => wanted[column]! <= share());
    const long = [...open].find((column) => least[column]! > share());
    if (narrow !== undefined) settle(narrow, wanted[narrow]!);
    else if (long !== undefined) settle(long, least[long]!);
    else break;
  }
  for (const column of open) fitted[column] = Math.floor(room / open.size);
  return sum(fitted) > width - 2 * (wanted.length - 1) ? [...least] : fitted;
}

/** The columns that a text takes on a terminal: a character of East Asia or an emoji takes two. */
export function lengthOf(text: string): number {
  return stringWidth(text);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
