import { escapeForTerminal } from '../../base/terminal-text.ts';
import type { CliContext } from './verb.ts';

/** A process as it is: what is written to it arrives unchanged. */
export type CliProcess = Omit<CliContext, 'verbatim'> & { outIsTerminal?: boolean };

/**
 * The context that verbs are given. Everything they print has its hidden characters escaped, whether it goes to a
 * terminal or not: what is written to a file or a pipe is most often shown by a terminal later.
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
