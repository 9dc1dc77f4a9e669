import { escapeForTerminal } from '../../base/terminal-text.ts';
import { cutEnd, LEAST_WIDTH, wrapPage, wrapStyled } from './fit-width.ts';
import { paint, type Styled } from './styled-text.ts';
import { asTyped, pageAsTyped } from './typed-command.ts';
import type { CliContext, Terminal } from './verb.ts';

/** The process itself: what is written to it is not escaped. */
export type CliProcess = Omit<
  CliContext,
  'verbatim' | 'width' | 'unicode' | 'show' | 'terminal' | 'progress'
> & {
  outIsTerminal?: boolean;
  /** Of the terminal; where it does not tell, 80. */
  columns?: number;
  /** The same of the terminal that errors are printed to; absent where they go elsewhere. */
  err_columns?: number;
  /** Of the terminal as it is now. */
  size?: () => { columns?: number; rows?: number };
  /** How often this process went on after it was stopped, while a shell wrote to its terminal. */
  resumes?: () => number;
  /** False where the command line forbids it. */
  colour?: boolean;
};

const USUAL_WIDTH = 80;
const USUAL_HEIGHT = 24;
/** Cursor to the top left; clear to the end of the line; cursor to the start of the line; clear to the end of the screen. */
const HOME = '\u001b[H';
const TO_LINE_END = '\u001b[K';
const LINE_START = '\r';
const TO_SCREEN_END = '\u001b[J';

/**
 * The context that verbs receive. It escapes the hidden characters in all output, even to a file or a pipe, because a
 * terminal often shows that later.
 */
export function withSafeOutput(given: CliProcess): CliContext {
  const { outIsTerminal, columns, err_columns, size, resumes, colour = true, ...rest } = given;
  const out = (text: string) => given.out(escapeForTerminal(text));
  const coloured = colour && outIsTerminal === true && takesColour(given.env);
  /** Escaped before it is laid out, so that lines fit the text as shown. */
  const laidOut = (page: Styled, width: number) =>
    paint(wrapStyled(escaped(pageAsTyped(page, given)), width), coloured, escapeForTerminal);
  const width = outIsTerminal === true ? widthOf(columns) : Number.POSITIVE_INFINITY;
  return {
    ...rest,
    width,
    unicode: hasUnicode(given.env),
    out,
    show: (page) => given.out(laidOut(typeof page === 'string' ? [page] : page, width)),
    terminal:
      outIsTerminal === true && size !== undefined ? terminalOf(given.out, laidOut, { size, resumes }) : null,
    progress:
      err_columns === undefined
        ? null
        : {
            // One column less: some terminals begin a new line behind the last one.
            tell: (words) =>
              given.err(
                `${LINE_START}${cutEnd(escapeForTerminal(words), widthOf(err_columns) - 1)}${TO_LINE_END}`,
              ),
            clear: () => given.err(`${LINE_START}${TO_LINE_END}`),
          },
    // Hints and refusals, which may name commands as they are typed outside the demo.
    err: (text) => {
      const told = escapeForTerminal(asTyped(text, given));
      given.err(err_columns === undefined ? told : wrapPage(told, widthOf(err_columns)));
    },
    verbatim: outIsTerminal === true ? out : (text) => given.out(text),
  };
}

function terminalOf(
  write: CliProcess['out'],
  laidOut: (page: Styled, width: number) => string,
  { size, resumes = () => 0 }: { size: NonNullable<CliProcess['size']>; resumes?: CliProcess['resumes'] },
): Terminal {
  const looks = () => `${size().columns} ${size().rows} ${resumes()}`;
  let drawn_for = looks();
  return {
    width: () => widthOf(size().columns),
    draw(text) {
      drawn_for = looks();
      const page = laidOut(text, widthOf(size().columns)).split('\n');
      const lines = page.slice(0, (size().rows || USUAL_HEIGHT) - 1);
      write(`${HOME}${lines.map((line) => `${line}${TO_LINE_END}`).join('\r\n')}${TO_SCREEN_END}`);
    },
    isStale: () => looks() !== drawn_for,
  };
}

function escaped(page: Styled): Styled {
  return page.map((span) =>
    typeof span === 'string' ? escapeForTerminal(span) : { ...span, text: escapeForTerminal(span.text) },
  );
}

/** Some terminals tell 0, which is no width. */
function widthOf(columns: number | undefined): number {
  return Math.max(columns || USUAL_WIDTH, LEAST_WIDTH);
}

function takesColour({ NO_COLOR, TERM }: NodeJS.ProcessEnv): boolean {
  return !NO_COLOR && TERM !== 'dumb';
}

/** As the C library reads a locale: the first of these that is set decides, and without any it is ASCII. */
function hasUnicode({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean {
  return /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');
}
