import type { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import { type Argument, JSON_OPTION, type Option } from './options.ts';

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

/** One line a person can type, and what it does. */
export type Example = readonly [line: string, does: string];

/** What a verb answers: `json` is printed with `--json`, `text` without. */
export type Answer = {
  json: unknown;
  text: string;
  /** Prints `json` on one line instead of indented. */
  one_line?: true;
  /** Sentences for standard error, where the answer is text. */
  warnings?: readonly string[];
  /** The same, with `--json` too: what went wrong beside the answer. */
  faults?: readonly string[];
  /** `EXIT.ok` unless given. */
  exit?: ExitCode;
};

/** What `run` gives back: an answer to print, or the exit code where it has printed all there is. */
export type Outcome = Answer | ExitCode;

/** What `--json` prints, or the reason why the verb has no `--json`. */
type Result = { json: z.ZodType; no_json?: undefined } | { json?: undefined; no_json: string };

/**
 * The whole declaration of one verb: its help, its completion, its part of `ops/cli.md` and its action. `run` throws a
 * `CodedError` where it refuses, which is printed as `svc: <message>` and chooses the exit code.
 */
export type Verb = {
  summary: string;
  /** Words after the name in the help, where those made of arguments and options do not do. */
  usage?: string;
  arguments: Readonly<Record<string, Argument>>;
  /** In the order of the help; `--json` comes last where it is not placed. */
  options: Readonly<Record<string, Option>>;
  /** Takes options that it does not declare, as a program in the place of another one must. */
  takes_any_option?: true;
  examples: readonly Example[];
  /** A paragraph of the help below the options. */
  note?: string;
  /** The page of `ops/` that says more. */
  page?: string;
  /** Exit codes that an answer ends with besides 0, each with its case. */
  exits?: Readonly<Partial<Record<ExitCode, string>>>;
  run(context: CliContext, given: never): Outcome | Promise<Outcome>;
} & Result;

type ValueOf<P> = P extends Argument<infer T> ? T : P extends Option<infer T> ? T : never;
/** What `run` is given: each argument and option under the name of its declaration. */
export type Given<D extends Readonly<Record<string, Argument | Option>>> = {
  [K in keyof D]: ValueOf<D[K]>;
};

type Declared<A extends Verb['arguments'], O extends Verb['options']> = Omit<
  Verb,
  'arguments' | 'options' | 'json' | 'no_json' | 'run'
> & {
  arguments?: A;
  options?: O;
  run(context: CliContext, given: Given<A> & Given<O> & { json?: boolean }): Outcome | Promise<Outcome>;
} & Result;

/** Declares a verb; `run` gets the values of its arguments and options with their types. */
// biome-ignore lint/complexity/noBannedTypes: a verb without arguments has none of any name
export function defineVerb<A extends Verb['arguments'] = {}, O extends Verb['options'] = {}>(
  declared: Declared<A, O>,
): Verb {
  const { options = {}, ...rest } = declared;
  const all = declared.json === undefined || 'json' in options ? options : { ...options, json: JSON_OPTION };
  return { arguments: {}, ...rest, options: all } as Verb;
}
