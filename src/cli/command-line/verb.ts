import type { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import type { Rehearsal } from '../../contract/http/rehearsal.ts';
import { type Argument, JSON_OPTION, type Option, YES } from './options.ts';
import type { Styled } from './styled-text.ts';

/** Everything that a verb may use of its process; tests pass their own. */
export type CliContext = {
  env: NodeJS.ProcessEnv;
  cwd: string;
  clock: Clock;
  /** Columns of the terminal that is printed to; infinite for a file or a pipe, whose lines are never broken or cut. */
  width: number;
  /** Whether the locale has the characters outside ASCII. */
  unicode: boolean;
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  /** Prints, with hidden characters escaped. */
  out(text: string): void;
  /**
   * Prints a page the same way: the commands that its sentences name as they are typed on this setup, lines that are
   * too long for the terminal broken between words, in colour where the terminal and its user want it.
   */
  show(page: string | Styled): void;
  /** The terminal that is printed to, for a page that is drawn again and again; null for a file or a pipe. */
  terminal: Terminal | null;
  /** One line of the terminal that errors are printed to, for what goes on; null for a file or a pipe. */
  progress: Progress | null;
  /** Prints to standard error, with hidden characters escaped. */
  err(text: string): void;
  /** Prints a stored text unchanged; to a terminal, as `out` does. */
  verbatim(text: string): void;
};

/** A line that is written over again and again, and leaves nothing. */
type Progress = {
  tell(words: string): void;
  clear(): void;
};

/** A terminal whose size may change. */
export type Terminal = {
  /** In columns, as of now. */
  width(): number;
  /** Shows a text in the place of all that the terminal shows; what is below its last line but one is cut. */
  draw(text: Styled): void;
  /** Whether what was drawn last may be covered, or laid out for another size: draw it again. */
  isStale(): boolean;
};

/** Exit codes, the same for every verb. */
export const EXIT = {
  ok: 0,
  /** The request was understood and refused; the message says why. */
  refused: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The daemon could not be reached, or has not told what came of it. */
  unreachable: 3,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** One command line and what it does. */
export type Example = readonly [line: string, does: string];

/** The result of a verb: `json` is printed with `--json`, `text` without. */
export type Answer = {
  json: unknown;
  text: string | Styled;
  /** Prints `json` on one line instead of indented. */
  one_line?: true;
  /** Messages for standard error, printed without `--json`. */
  warnings?: readonly string[];
  /** The same, but also printed with `--json`: what failed although there is a result. */
  faults?: readonly string[];
  /** Default `EXIT.ok`. */
  exit?: ExitCode;
};

/** What `run` returns: a result to print, or the exit code if it has printed everything. */
export type Outcome = Answer | ExitCode;

/** What `--json` prints, or the reason why the verb has no `--json`. */
type Result = { json: z.ZodType; no_json?: undefined } | { json?: undefined; no_json: string };

/**
 * The whole declaration of one verb: its help, its completion, its part of `ops/cli.md` and its action. `run` throws a
 * `CodedError` to refuse; it is printed as `svc: <message>` and decides the exit code.
 */
export type Verb = {
  summary: string;
  /** What the help shows after the name; default: made from the arguments and options. */
  usage?: string;
  arguments: Readonly<Record<string, Argument>>;
  /** In the order of the help; `--json` is last unless it is placed. */
  options: Readonly<Record<string, Option>>;
  /** Accepts undeclared options, which a stand-in for another program needs. */
  takes_any_option?: true;
  examples: readonly Example[];
  /** A paragraph of the help below the options. */
  note?: string;
  /** The page of `ops/` with more details. */
  page?: string;
  /** Exit codes other than 0 that a result may have, each with its meaning. */
  exits?: Readonly<Partial<Record<ExitCode, string>>>;
  /**
   * Whether a person is asked first, as before work is ended or what somebody wrote is removed. `shown` is the rehearsal
   * of what was given; before there is one it is null, and only counts what the options may do. Such a verb has
   * `--dry-run`, and gets `--yes`.
   */
  asks?(given: never, shown: Rehearsal | null): boolean;
  run(context: CliContext, given: never): Outcome | Promise<Outcome>;
} & Result;

type ValueOf<P> = P extends Argument<infer T> ? T : P extends Option<infer T> ? T : never;
/** What `run` receives: each argument and option under the name of its declaration. */
export type Given<D extends Readonly<Record<string, Argument | Option>>> = {
  [K in keyof D]: ValueOf<D[K]>;
};

type Declared<A extends Verb['arguments'], O extends Verb['options']> = Omit<
  Verb,
  'arguments' | 'options' | 'json' | 'no_json' | 'asks' | 'run'
> & {
  arguments?: A;
  options?: O;
  asks?(given: Given<A> & Given<O>, shown: Rehearsal | null): boolean;
  run(context: CliContext, given: Given<A> & Given<O> & { json?: boolean }): Outcome | Promise<Outcome>;
} & Result;

/** Declares a verb; `run` gets the typed values of its arguments and options. */
// biome-ignore lint/complexity/noBannedTypes: a verb without arguments has none of any name
export function defineVerb<A extends Verb['arguments'] = {}, O extends Verb['options'] = {}>(
  declared: Declared<A, O>,
): Verb {
  const { options = {}, ...rest } = declared;
  const asking = declared.asks === undefined ? options : { ...options, yes: YES };
  const all = declared.json === undefined || 'json' in asking ? asking : { ...asking, json: JSON_OPTION };
  return { arguments: {}, ...rest, options: all } as Verb;
}
