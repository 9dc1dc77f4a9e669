import type { Tokens } from '../../contract/http/spend.ts';

/** What a transcript tells of its session's use, so far. Plain data: it can be kept and gone on with. */
export type TokenUsage = {
  /** By the id of the answer; a later record of the same answer replaces its count. */
  answers: Map<string, Answer>;
  /** Models that answered, in the order of their first answer. */
  models: string[];
  /** Of versions that tell a running total only: the last one, and what its steps add up to. */
  running: { total: Tokens | null; sum: Tokens; steps: number };
};

/** `origin` names the answer in all transcripts: a fork's transcript repeats those of its parent. */
export type Answer = { origin: string; tokens: Tokens };

export const NO_TOKENS: Tokens = { input: 0, cache_read: 0, cache_write: 0, output: 0 };

export function noUsage(): TokenUsage {
  return { answers: new Map(), models: [], running: { total: null, sum: { ...NO_TOKENS }, steps: 0 } };
}

/** The session's own use, without answers of `elsewhere`. `tokens` is null when none was told: never a guess. */
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

/** Notes a model that answered. */
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

/** A told count as one; what is none counts nothing. */
export function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.trunc(value) : 0;
}
