import type { Tokens } from '../../contract/http/spend.ts';

/** The token usage in a transcript so far. Plain data: it can be stored and continued. */
export type TokenUsage = {
  /** By answer id; a later record of the same answer replaces its count. */
  answers: Map<string, Answer>;
  /** Models that answered, in order of their first answer. */
  models: string[];
  /** For versions that write only a running total: the last total, and the sum of its increments. */
  running: { total: Tokens | null; sum: Tokens; steps: number };
};

/** `origin` identifies the answer across transcripts: a fork's transcript repeats the answers of its parent. */
type Answer = { origin: string; tokens: Tokens };

export const NO_TOKENS: Tokens = { input: 0, cache_read: 0, cache_write: 0, output: 0 };

export function noUsage(): TokenUsage {
  return { answers: new Map(), models: [], running: { total: null, sum: { ...NO_TOKENS }, steps: 0 } };
}

/**
 * The session's own usage, without the answers of `elsewhere`. `tokens` is null if none were recorded; never a guess.
 */
export function sumUsage(
  { answers, running }: TokenUsage,
  elsewhere: ReadonlySet<string> = new Set(),
): { tokens: Tokens | null; answers: number } {
  if (answers.size === 0 && running.total === null) return { tokens: null, answers: 0 };
  const own = [...answers.values()].filter(({ origin }) => !elsewhere.has(origin));
  return {
    tokens: own.reduce((all, { tokens }) => sum(all, tokens), running.sum),
    answers: own.length + running.steps,
  };
}

export function sum(a: Tokens, b: Tokens): Tokens {
  return {
    input: a.input + b.input,
    cache_read: a.cache_read + b.cache_read,
    cache_write: a.cache_write + b.cache_write,
    output: a.output + b.output,
  };
}

export function totalOf({ input, cache_read, cache_write, output }: Tokens): number {
  return input + cache_read + cache_write + output;
}

/** Records a model that answered. */
export function addModel(models: string[], model: unknown): void {
  if (typeof model === 'string' && !models.includes(model)) models.push(model);
}

export function negative(tokens: Tokens): Tokens {
  return {
    input: -tokens.input,
    cache_read: -tokens.cache_read,
    cache_write: -tokens.cache_write,
    output: -tokens.output,
  };
}

/** A recorded count; 0 for anything but a number. */
export function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.trunc(value) : 0;
}
