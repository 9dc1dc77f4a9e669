import stringWidth from 'string-width';
import type { Span, Styled } from './styled-text.ts';

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
  const characters = [...graphemes(path)].map(({ segment }) => segment);
  let end = '';
  for (const character of characters.toReversed()) {
    if (lengthOf(start) + lengthOf(character) + lengthOf(end) > room) break;
    end = `${character}${end}`;
  }
  return `${start}${mark}${end}`;
}

let segmenter: Intl.Segmenter | undefined;
/** Made at its first use, which takes 13 ms: most pages cut nothing. */
function graphemes(text: string): Iterable<Intl.SegmentData> {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

/** As much of the beginning of a text as fits. */
function startOf(text: string, width: number): string {
  let start = '';
  let used = 0;
  for (const { segment } of graphemes(text)) {
    used += lengthOf(segment);
    if (used > width) break;
    start += segment;
  }
  return start;
}

function firstOf(text: string): string {
  return graphemes(text)[Symbol.iterator]().next().value?.segment ?? '';
}

/**
 * A page in lines of at most this many columns. What follows on a broken line is indented below its text; a line of a
 * screen keeps its mark, so that none of its parts can pass for a line of the page. A command that fits on a line is not broken.
 */
export function wrapPage(page: string, width: number): string {
  if (width === Number.POSITIVE_INFINITY) return page;
  return page
    .split('\n')
    .flatMap((line) => (isLeft(line, width) ? [line] : wrapSentence(line, width, hangingOf(line, width))))
    .join('\n');
}

/**
 * A line that fits, or one with a word of a command that fits on no line: only the terminal breaks that one, so that it can
 * be copied.
 */
function isLeft(line: string, width: number): boolean {
  if (lengthOf(line) <= width) return true;
  const words = (line.match(COMMAND) ?? []).flatMap(shellWordsOf);
  return words.some((word) => lengthOf(word) > width - 2 * INDENT);
}

const INDENT = 2;

/** The columns of the longest word of a text. */
export function longestWord(text: string): number {
  return Math.max(...text.split(' ').map(lengthOf));
}

/** The same of a page in colours, each of which goes on where its line is broken. */
export function wrapStyled(page: Styled, width: number): Styled {
  if (width === Number.POSITIVE_INFINITY) return page;
  return linesOf(page).flatMap((line, at) => [...(at === 0 ? [] : ['\n']), ...wrapLine(line, width)]);
}

function wrapLine(line: readonly Span[], width: number): Span[] {
  const text = line.map(textOf).join('');
  if (isLeft(text, width)) return [...line];
  const hanging = hangingOf(text, width);
  let at = 0;
  return wrapSentence(text, width, hanging).flatMap((part, nth) => {
    const [indent, rest] = nth === 0 ? ['', part] : [`\n${hanging}`, part.slice(hanging.length)];
    // A command that goes on ends with a mark that is not of the line.
    const isOwn = text.includes(rest) || !rest.endsWith(GOES_ON);
    const words = isOwn ? rest : rest.slice(0, -GOES_ON.length);
    const from = Math.max(at, text.indexOf(words, at));
    at = from + words.length;
    return [indent, ...cutOut(line, from, at), rest.slice(words.length)].filter((span) => span !== '');
  });
}

/** The spans of a line from one of its characters to another. */
function cutOut(line: readonly Span[], from: number, to: number): Span[] {
  let begin = 0;
  return line.flatMap((span) => {
    const text = textOf(span);
    const cut = text.slice(Math.max(0, from - begin), Math.max(0, to - begin));
    begin += text.length;
    if (cut === '') return [];
    return [typeof span === 'string' ? cut : { ...span, text: cut }];
  });
}

function linesOf(page: Styled): Span[][] {
  const lines: Span[][] = [[]];
  for (const span of page) {
    for (const [at, text] of textOf(span).split('\n').entries()) {
      if (at > 0) lines.push([]);
      if (text !== '') lines.at(-1)!.push(typeof span === 'string' ? text : { ...span, text });
    }
  }
  return lines;
}

function textOf(span: Span): string {
  return typeof span === 'string' ? span : span.text;
}

/**
 * As `wrapWords`, and a command stays on one line where that is long enough, so that it can be copied; where it is not,
 * the shell is told that it goes on.
 */
function wrapSentence(text: string, width: number, hanging = ''): string[] {
  const room = width - lengthOf(hanging);
  const joined = text.replace(COMMAND, (command) =>
    (lengthOf(command) > room && command.startsWith('svc ')
      ? continued(shellWordsOf(command), room)
      : [command]
    )
      .map((line) => (lengthOf(line) > room ? line : line.replaceAll(' ', JOINED)))
      .join(' '),
  );
  return wrapWords(joined, width, hanging).map((part) => part.replaceAll(JOINED, ' '));
}

const WORD = String.raw`"[^"]*"|'[^']*'|(?!, |; |\. |\.$| \(|\)(?: |$)).`;
const COMMAND = new RegExp(
  String.raw`\`[^\`]*\`|(?<=^ *|: |\(|\bwith )svc (?:${WORD})+|\bnpm install -g [\w@/.-]*\w`,
  'g',
);
const JOINED = '\u00a0';
const GOES_ON = ' \\';

/** The words of a command as the shell reads them: a blank within quotes ends none. */
function shellWordsOf(command: string): string[] {
  return command.match(/(?:"[^"]*"|'[^']*'|\S)+/g) ?? [];
}

/** The words of a command in lines of at most `room` columns, each but the last with the mark that the shell reads. */
function continued(words: readonly string[], room: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && lengthOf(longer) + lengthOf(GOES_ON) <= room) lines.splice(-1, 1, longer);
    else lines.push(word);
  }
  return lines.map((line, nth) => (nth < lines.length - 1 ? `${line}${GOES_ON}` : line));
}

/**
 * A command, given as words for the shell, that can be copied whole: where it is broken, the shell is told that it goes
 * on. A word that is longer than a line is not broken.
 */
export function continuedLine(label: string, words: readonly string[], width: number): string {
  const whole = `${label} ${words.join(' ')}`;
  if (lengthOf(whole) <= width) return whole;
  return [label, ...continued(words, width - 2).map((line) => `  ${line}`)].join('\n');
}

/** A label and the gap behind it, below which nothing is written. */
const LABEL = /^ *\S+(?: \S+){0,2} {2,}(?=\S)/;

function hangingOf(line: string, width: number): string {
  const [lead = ''] = /^ *(\| )?/.exec(line) ?? [];
  if (lead.endsWith('| ')) return lead;
  const [label = ''] = LABEL.exec(line) ?? [];
  return label !== '' && lengthOf(label) <= width / 3 ? ' '.repeat(lengthOf(label)) : `${lead}  `;
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
  return NARROW.test(text) ? text.length : stringWidth(text);
}

/** Latin letters, punctuation, arrows and lines, each in one column: nearly all text, measured without a library. */
const NARROW = /^[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u2199\u2500-\u25fc]*$/;

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
