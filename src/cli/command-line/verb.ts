import type { Command } from 'commander';
import type { Clock } from '../../base/clock.ts';

/** Everything a verb may touch of the process that runs it; a test hands in its own. */
export type CliContext = {
  env: NodeJS.ProcessEnv;
  cwd: string;
  clock: Clock;
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  /** Prints, with hidden characters escaped. */
  out(text: string): void;
  /** Prints to standard error, with hidden characters escaped. */
  err(text: string): void;
  /** Prints a stored text as it is stored; on a terminal as `out` does. */
  verbatim(text: string): void;
};

/**
 * One verb of `svc`: a name, one line of help, its options, and what it does.
 * `run` returns the exit code; a thrown `CodedError` is printed as `svc: <message>` and mapped to one.
 */
export type Verb = {
  name: string;
  summary: string;
  /** Adds arguments, options and the action to the command made for this verb. */
  register(command: Command, context: CliContext, exit: (code: ExitCode) => void): void;
};

/** Exit codes, the same for every verb. */
export const EXIT = {
  ok: 0,
  /** The request was understood and refused; the sentence says why. */
  refused: 1,
  /** The command line itself is wrong. */
  usage: 2,
  /** The daemon could not be reached. */
  unreachable: 3,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
