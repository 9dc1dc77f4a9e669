/** Narrowest width, in columns, that a page is laid out for. */
export const LEAST_WIDTH = 40;

/**
 * A text in lines of at most this many characters, broken between words; only a word that is longer than a line is cut.
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
    const long = [...lines.pop()!];
    lines.push(long.slice(0, width).join(''), `${hanging}${long.slice(width).join('')}`);
  }
  return lines;
}

/**
 * A page in lines of at most this many characters. What follows on a broken line is indented below it; a line of a
 * screen keeps its mark, so that none of its parts can pass for a line of the page.
 */
export function wrapPage(page: string, width: number): string {
  if (width === Number.POSITIVE_INFINITY) return page;
  return page
    .split('\n')
    .flatMap((line) => (lengthOf(line) <= width ? [line] : wrapWords(line, width, hangingOf(line))))
    .join('\n');
}

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
  // A column is settled where it wants no more than its share of what is left, or needs more for its longest word.
  for (let settled = true; settled; ) {
    settled = false;
    for (const column of open) {
      const share = Math.floor(room / open.size);
      const needs =
        wanted[column]! <= share ? wanted[column]! : least[column]! > share ? least[column]! : null;
      if (needs === null) continue;
      fitted[column] = needs;
      room -= needs;
      open.delete(column);
      settled = true;
    }
  }
  for (const column of open) fitted[column] = Math.floor(room / open.size);
  return sum(fitted) > width - 2 * (wanted.length - 1) ? [...least] : fitted;
}

export function lengthOf(text: string): number {
  return [...text].length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
