import type { HarnessName } from '../../contract/harness-name.ts';
import type { Tokens } from '../../contract/http/spend.ts';
import { asTable } from '../table.ts';

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

type Fields = Record<string, unknown>;

const NONE: Tokens = { input: 0, cache_read: 0, cache_write: 0, output: 0 };

export function noUsage(): TokenUsage {
  return { answers: new Map(), models: [], running: { total: null, sum: { ...NONE }, steps: 0 } };
}

/** Adds what one record of a transcript tells. */
export function addUsage(harness: HarnessName, usage: TokenUsage, record: Fields): void {
  if (harness === 'claude') addClaude(usage, record);
  else if (harness === 'codex') addCodex(usage, record);
  else addPi(usage, record);
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

/** One answer is written in several records with the same id, whose last one has the final count. */
function addClaude({ answers, models }: TokenUsage, record: Fields): void {
  const message = asTable(record.message);
  const { id, model } = message;
  if (record.type !== 'assistant' || typeof id !== 'string' || model === '<synthetic>') return;
  const told = asTable(message.usage);
  if (typeof told.input_tokens !== 'number' && typeof told.output_tokens !== 'number') return;
  answers.set(id, {
    origin: answers.get(id)?.origin ?? String(record.uuid),
    tokens: {
      input: count(told.input_tokens),
      cache_read: count(told.cache_read_input_tokens),
      cache_write: count(told.cache_creation_input_tokens),
      output: count(told.output_tokens),
    },
  });
  addModel(models, model);
}

/** Newer versions write a record an answer; older ones a running total, again at every change of a rate limit. */
function addCodex({ answers, models, running }: TokenUsage, record: Fields): void {
  const payload = asTable(record.payload);
  if (record.type === 'turn_context') addModel(models, payload.model);
  if (record.type === 'token_usage_record') {
    const tokens = codexTokens(payload.usage);
    const origin = `${String(payload.turn_id)} ${String(payload.response_id)}`;
    if (tokens !== null) answers.set(origin, { origin, tokens });
    return;
  }
  if (record.type !== 'event_msg' || payload.type !== 'token_count' || answers.size > 0) return;
  const total = codexTokens(asTable(payload.info).total_token_usage);
  if (total === null) return;
  const step = sum(total, negative(running.total ?? NONE));
  running.total = total;
  const kinds = Object.values(step);
  if (kinds.every((value) => value === 0)) return;
  // A total that went down begins a new count.
  running.sum = sum(running.sum, kinds.some((value) => value < 0) ? total : step);
  running.steps += 1;
}

/** What was read from the cache or written to it is part of the input there. */
function codexTokens(value: unknown): Tokens | null {
  const told = asTable(value);
  if (typeof told.input_tokens !== 'number' && typeof told.output_tokens !== 'number') return null;
  const cache_read = count(told.cached_input_tokens);
  const cache_write = count(told.cache_write_input_tokens);
  const input = Math.max(0, count(told.input_tokens) - cache_read - cache_write);
  return { input, cache_read, cache_write, output: count(told.output_tokens) };
}

function addPi({ answers, models }: TokenUsage, record: Fields): void {
  const message = asTable(record.message);
  if (record.type !== 'message' || message.role !== 'assistant') return;
  const told = asTable(message.usage);
  if (typeof told.input !== 'number' && typeof told.output !== 'number') return;
  // Its ids are short: only together with the time do they name one record.
  const origin = `${String(record.id)} ${String(record.timestamp)}`;
  answers.set(origin, {
    origin,
    tokens: {
      input: count(told.input),
      cache_read: count(told.cacheRead),
      cache_write: count(told.cacheWrite),
      output: count(told.output),
    },
  });
  addModel(models, message.model);
}

function addModel(models: string[], model: unknown): void {
  if (typeof model === 'string' && !models.includes(model)) models.push(model);
}

function negative(tokens: Tokens): Tokens {
  return {
    input: -tokens.input,
    cache_read: -tokens.cache_read,
    cache_write: -tokens.cache_write,
    output: -tokens.output,
  };
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.trunc(value) : 0;
}
