import { escapeForTerminal } from '../../base/terminal-text.ts';
import type { CliContext } from './verb.ts';

/** The process itself: what is written to it is not escaped. */
export type CliProcess = Omit<CliContext, 'verbatim'> & { outIsTerminal?: boolean };

/**
 * The context that verbs receive. It escapes the hidden characters in all output, even to a file or a pipe, because a
 * terminal often shows that later.
 */
export function withSafeOutput(given: CliProcess): CliContext {
  const { outIsTerminal, ...rest } = given;
  const out = (text: string) => given.out(escapeForTerminal(text));
  return {
    ...rest,
    out,
    err: (text) => given.err(escapeForTerminal(text)),
    verbatim: outIsTerminal === true ? out : (text) => given.out(text),
  };
}
