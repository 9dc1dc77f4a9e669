import { InvalidArgumentError } from 'commander';
import { CodedError } from '../../base/errors.ts';
import { FIBER_STATUSES, type FiberStatus } from '../../contract/fiber.ts';
import { SURFACES, type Surface } from '../../contract/surface.ts';

/** What a shell completes to: fibers and agents, whose names it requests from `svc`, folders, or fixed words. */
export type Completes = 'fibers' | 'agents' | 'folders' | readonly string[];

type Place = {
  description: string;
  completes?: Completes;
  /** Other words are a usage error. */
  choices?: readonly string[];
  /** Throws `InvalidArgumentError` for an invalid value; `earlier` is the value of the same option before. */
  parse?: (text: string, earlier?: unknown) => unknown;
  fallback?: unknown;
};

/** An argument; `usage` is `<name>`, `[name]` or `<name...>`. `T` is the type of its value. */
export type Argument<T = unknown> = Place & { usage: string; value?: T };
/** An option; `flags` as in the help. `T` is the type of its value. */
export type Option<T = unknown> = Place & {
  flags: string;
  required?: true;
  hidden?: true;
  value_of_option?: T;
};

type TextOf<U extends string> = U extends `${string}...${string}` ? string[] : string;
type ArgumentValue<U extends string> = U extends `[${string}` ? TextOf<U> | undefined : TextOf<U>;
type OptionValue<F extends string> = F extends `${string}<${string}` ? TextOf<F> : boolean;

export function argument<const U extends string>(
  usage: U,
  description: string,
  more: Omit<Place, 'description'> = {},
): Argument<ArgumentValue<U>> {
  return { usage, description, ...more };
}

/** An optional option; without a `<value>` it is a switch. */
export function option<const F extends string>(
  flags: F,
  description: string,
  more: { completes?: Completes; hidden?: true } = {},
): Option<OptionValue<F> | undefined> {
  return { flags, description, ...more };
}

/** The same, but the verb requires it. */
export function required<T>(optional: Option<T | undefined>): Option<T> {
  return { ...optional, required: true } as Option<T>;
}

/** An option that accepts one of these words; anything else is a usage error. */
export function choice<const W extends string>(
  flags: string,
  words: readonly W[],
  description: string,
): Option<W | undefined> {
  return { flags, description, choices: words };
}

/** An option that may be given several times, with one value each time. */
export function repeated(flags: string, description: string): Option<string[] | undefined> {
  const parse = (text: string, earlier: unknown) => [...((earlier as string[] | undefined) ?? []), text];
  return { flags, description, parse };
}

/** An option that accepts a whole number; anything else is a usage error. */
export function count(flags: string, description: string, fallback: number): Option<number> {
  return { flags, description, parse: wholeNumber, fallback };
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError('Give a whole number.');
  return value;
}

export const JSON_OPTION = option('--json', 'print the result as JSON');
/** The option of every verb that writes. */
export const DRY_RUN = option('--dry-run', 'show what it would write and run, and do neither');
/** The option of every verb that asks first. */
export const YES = option('-y, --yes', 'do not ask first; needed with --json and where there is no terminal');

/** A fiber that the verb finds in the stores. */
export const FIBER = argument('<fiber>', 'id, uid or the beginning of an id');
/** A fiber that the daemon finds. */
export const SERVED_FIBER = argument('<fiber>', 'id, uid or the beginning of an id');

/** Where the fiber of `SERVED_FIBER` is. */
export const ON_HOST = option('--host <id>', 'host that has the fiber; needed only if several have it');

export const STORE = option('--store <dir>', 'store to look in');
export const PROJECT_DIR = option('--project-dir <dir>', 'folder that the worker runs in');
export const AGENT = option('--agent <id>', 'agent of the registry', { completes: 'agents' });
export const EFFORT = option('--effort <level>', 'effort of the agent');
export const OUTCOME = option('--outcome <line>', 'the line that the card shows');
export const DUE = option('--due <day>', 'due day');

export function statusOption(description: string): Option<FiberStatus | undefined> {
  return { flags: '--status <status>', description, ...oneOf(FIBER_STATUSES, 'a status', ', ') };
}

export function surfaceOption(description: string): Option<Surface | undefined> {
  return { flags: '--surface <surface>', description, ...oneOf(SURFACES, 'a surface', ' or ') };
}

/** A value that we validate ourselves, with our own error message instead of the parser's. */
function oneOf(words: readonly string[], what: string, between: string): Omit<Place, 'description'> {
  const parse = (text: string) => {
    if (words.includes(text)) return text;
    throw new CodedError('invalid_request', `"${text}" is not ${what}; it takes ${words.join(between)}`);
  };
  return { completes: words, parse };
}
