import { escapeForTerminal } from '../../base/terminal-text.ts';
import { LEAST_WIDTH } from './fit-width.ts';
import type { CliContext } from './verb.ts';

/** The process itself: what is written to it is not escaped. */
export type CliProcess = Omit<CliContext, 'verbatim' | 'width'> & {
  outIsTerminal?: boolean;
  columns?: number;
};

/**
 * The context that verbs receive. It escapes the hidden characters in all output, even to a file or a pipe, because a
 * terminal often shows that later.
 */
export function withSafeOutput(given: CliProcess): CliContext {
  const { outIsTerminal, columns, ...rest } = given;
  const out = (text: string) => given.out(escapeForTerminal(text));
  return {
    ...rest,
    // Some terminals tell 0, which is no width.
    width: columns ? Math.max(columns, LEAST_WIDTH) : Number.POSITIVE_INFINITY,
    out,
    err: (text) => given.err(escapeForTerminal(text)),
    verbatim: outIsTerminal === true ? out : (text) => given.out(text),
  };
}
