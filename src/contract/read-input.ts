import type { z } from 'zod';

/** What is wrong with one place of an input; `message` goes after the name of the place: `must be given`. */
export type InputFault = { path: PropertyKey[]; message: string };

/** The parsed input, or its faults, at least one. */
export type InputRead<T> =
  | { success: true; data: T }
  | { success: false; faults: [InputFault, ...InputFault[]] };

/** Parses what a person or a program wrote by a schema; the faults are in plain words. */
export function readInput<S extends z.ZodType>(schema: S, input: unknown): InputRead<z.output<S>> {
  try {
    const parsed = schema.safeParse(input, { error: plainWords, reportInput: true });
    if (parsed.success) return parsed;
    const [first, ...others] = parsed.error.issues.map((issue) => faultOf(issue, []));
    return { success: false, faults: [first!, ...others] };
  } catch (error) {
    // A recursive schema runs out of stack on input that is nested deep enough.
    if (!(error instanceof RangeError)) throw error;
    return { success: false, faults: [{ path: [], message: 'is nested too deeply' }] };
  }
}

/** A fault as a sentence without its full stop; `whole` names the input where the fault is not in one of its fields. */
export function sentenceOfFault({ path, message }: InputFault, whole: string): string {
  return `${path.length === 0 ? whole : placeOf(path)} ${message}`;
}

/** `agents.0.harness` */
export function placeOf(path: readonly PropertyKey[]): string {
  return path.map(String).join('.');
}

/** Longest value that is repeated in a fault, in UTF-16 units. */
const MOST_SHOWN_CHARS = 40;
/** Unknown fields that a fault names. */
const MOST_SHOWN_KEYS = 8;

/**
 * The fault of an issue. Of a union it is the one with the longest path, so of the form that was meant; if several tie, the
 * last, which has fields and can name the missing one.
 */
function faultOf(issue: z.core.$ZodIssue, around: PropertyKey[]): InputFault {
  const path = [...around, ...issue.path];
  const branches = issue.code === 'invalid_union' ? issue.errors.filter((inner) => inner.length > 0) : [];
  if (branches.length > 0 && !branches.every(isWrongType))
    return branches
      .map((inner) => deepest(inner.map((one) => faultOf(one, path))))
      .reduce((best, other) => (other.path.length >= best.path.length ? other : best));
  return { path, message: withInput(issue) };
}

function deepest(faults: InputFault[]): InputFault {
  return faults.reduce((best, other) => (other.path.length > best.path.length ? other : best));
}

function isWrongType([issue]: readonly z.core.$ZodIssue[]): boolean {
  return issue?.code === 'invalid_type' && issue.path.length === 0;
}

/** The words of a rule for a text or number, followed by what was given where they do not name it themselves. */
function withInput({ message, input }: z.core.$ZodIssue): string {
  return message.startsWith('must be ') && !message.includes(', not ') ? message + but(input) : message;
}

/** `, not "x"` for a number or a short text, else nothing. */
function but(input: unknown): string {
  if (typeof input === 'number') return `, not ${input}`;
  return typeof input === 'string' && input.length <= MOST_SHOWN_CHARS
    ? `, not ${JSON.stringify(input)}`
    : '';
}

/** The words for an issue that its schema has none for. */
function plainWords(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return wrongType([issue.expected], issue.input);
    case 'invalid_value':
      return oneOf(issue.values, issue.input);
    case 'too_small':
      return tooSmall(issue);
    case 'too_big':
      return tooBig(issue);
    case 'unrecognized_keys':
      return `has no field ${shownKeys(issue.keys)}`;
    case 'invalid_union':
      return noForm(issue);
    case 'invalid_key':
      return 'has a key that it may not have';
    case 'invalid_format':
      return `must be of the form ${issue.format === 'regex' ? issue.pattern : issue.format}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    default:
      return 'is not valid';
  }
}

const TYPES: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
};

function wrongType(expected: readonly string[], input: unknown): string {
  const wanted = either([...new Set(expected.map((type) => TYPES[type] ?? type))]);
  if (input === undefined) return 'must be given';
  return `must be ${wanted}, not ${expected[0] === 'int' && typeof input === 'number' ? input : kindOf(input)}`;
}

/** What a JSON value is; its text or its fields are left out, since they can be long or secret. */
function kindOf(input: unknown): string {
  if (input === null || typeof input === 'boolean') return String(input);
  if (Array.isArray(input)) return 'a list';
  return TYPES[typeof input] ?? typeof input;
}

function oneOf(values: readonly unknown[], input: unknown): string {
  const wanted = either(values.map((value) => JSON.stringify(value) ?? String(value)));
  if (input === undefined) return `must be given: ${wanted}`;
  const is_scalar = typeof input === 'string' || typeof input === 'number';
  return `must be ${wanted}${is_scalar ? but(input) : `, not ${kindOf(input)}`}`;
}

function shownKeys(keys: readonly string[]): string {
  const shown = keys.slice(0, MOST_SHOWN_KEYS).map((key) => {
    const is_long = key.length > MOST_SHOWN_CHARS;
    return JSON.stringify(is_long ? `${key.slice(0, MOST_SHOWN_CHARS)}…` : key);
  });
  const more = keys.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** No form of a union fits: that which its one field names, or any. */
function noForm({
  errors,
  options,
  discriminator,
  input,
}: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
  if (Array.isArray(options) && typeof discriminator === 'string')
    return oneOf(options, (input as Record<string, unknown>)[discriminator]);
  if (errors.length === 0 || !errors.every(isWrongType)) return 'has none of the forms that it may have';
  return wrongType(
    errors.flatMap(([issue]) => (issue?.code === 'invalid_type' ? issue.expected : [])),
    input,
  );
}

function tooSmall({ origin, minimum, inclusive }: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall>): string {
  if (origin === 'string')
    return minimum === 1 ? 'may not be empty' : `must have at least ${minimum} characters`;
  if (origin === 'array') return minimum === 1 ? 'may not be empty' : `must have at least ${minimum} entries`;
  return inclusive === false ? `must be more than ${minimum}` : `must be at least ${minimum}`;
}

function tooBig({ origin, maximum, inclusive }: z.core.$ZodRawIssue<z.core.$ZodIssueTooBig>): string {
  if (origin === 'string') return `must have at most ${count(maximum, 'character')}`;
  if (origin === 'array') return `must have at most ${count(maximum, 'entry', 'entries')}`;
  return inclusive === false ? `must be less than ${maximum}` : `must be at most ${maximum}`;
}

function count(most: number | bigint, one: string, several = `${one}s`): string {
  return `${most} ${Number(most) === 1 ? one : several}`;
}

/** `"a", "b" or "c"` */
function either(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
