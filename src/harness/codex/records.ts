import type { Tokens } from '../../contract/http/spend.ts';
import type { TranscriptRecords } from '../harness.ts';
import { asTable, type Table } from '../table.ts';
import { parseResetTime } from '../transcripts/reset-time.ts';
import { agent, answer, call, person, textOf, timestampOf } from '../transcripts/said.ts';
import { addModel, count, NO_TOKENS, negative, sum, totalOf } from '../transcripts/token-usage.ts';
import { endAt } from '../transcripts/turn-end.ts';
import { limited, NO_SIGN } from '../transcripts/usage-limit.ts';

/** How to read the records of Codex. */
export const records: TranscriptRecords = {
  timeOf: timestampOf,
  folderOf: (record) => asTable(record.payload).cwd,

  saidIn(record) {
    if (record.type !== 'response_item') return [];
    const payload = asTable(record.payload);
    if (payload.type === 'function_call') return [call(payload.name, parsed(payload.arguments))];
    if (payload.type === 'custom_tool_call') return [call(payload.name, payload.input)];
    if (payload.type === 'function_call_output' || payload.type === 'custom_tool_call_output')
      return [answer(null, textOf(payload.output))];
    if (payload.type !== 'message') return [];
    const text = textOf(payload.content);
    if (payload.role === 'assistant') return [agent(text)];
    // The program writes its environment as one element of a user message.
    const injected = /^<(environment_context|user_instructions|turn_aborted)>/.test(text);
    return payload.role === 'user' && !injected ? [person(text)] : [];
  },

  /** It has no hook for a turn that failed or was interrupted. */
  turnEnd(newest) {
    for (const record of newest) {
      const payload = asTable(record.payload);
      if (record.type !== 'event_msg') continue;
      if (payload.type === 'task_started') return null;
      if (payload.type === 'turn_aborted') return endAt(record, null);
      if (payload.type !== 'task_complete') continue;
      const { message } = asTable(payload.error);
      return endAt(record, typeof message === 'string' ? message : null);
    }
    return null;
  },

  /** The limit is in one record, and the windows with their end times are in another, a few records away. */
  usageSign(newest, zone) {
    let windows: Table | null = null;
    let found: { notice: string; at: number } | null = null;
    for (const record of newest) {
      const payload = asTable(record.payload);
      if (payload.type === 'token_count' && windows === null && isTable(payload.rate_limits))
        windows = payload.rate_limits;
      if (found === null) {
        const at = timestampOf(record) ?? 0;
        const error = payload.type === 'task_complete' ? asTable(payload.error) : payload;
        const told = payload.type === 'task_complete' || payload.type === 'error';
        if (told && error.codex_error_info === 'usage_limit_exceeded')
          found = { notice: String(error.message ?? 'usage limit exceeded'), at };
        else if (isProgress(payload)) return { kind: 'working', at };
      }
      if (found !== null && windows !== null) break;
    }
    if (found === null) return NO_SIGN;
    const resets_at = endOfWindows(windows, found.at) ?? parseResetTime(found.notice, found.at, zone);
    return limited({ ...found, resets_at });
  },

  /** The size of the window is in another record than the count, or in the same. */
  contextUse(newest) {
    let tokens: number | null = null;
    let most: number | null = null;
    for (const record of newest) {
      const payload = asTable(record.payload);
      if (record.type === 'compacted' && tokens === null) return null;
      const info = asTable(payload.info);
      const used =
        record.type === 'token_usage_record' ? tokensOf(payload.usage) : tokensOf(info.last_token_usage);
      if (used !== null) tokens ??= totalOf(used);
      most ??= count(info.model_context_window ?? payload.model_context_window) || null;
      if (tokens !== null && most !== null) break;
    }
    return tokens === null ? null : { tokens, most };
  },

  /**
   * Newer versions write one record per answer; older ones write a running total, repeated when a rate limit changes.
   */
  addUsage({ answers, models, running }, record) {
    const payload = asTable(record.payload);
    if (record.type === 'turn_context') addModel(models, payload.model);
    if (record.type === 'token_usage_record') {
      const tokens = tokensOf(payload.usage);
      const origin = `${String(payload.turn_id)} ${String(payload.response_id)}`;
      if (tokens !== null) answers.set(origin, { origin, tokens });
      return;
    }
    if (record.type !== 'event_msg' || payload.type !== 'token_count' || answers.size > 0) return;
    const total = tokensOf(asTable(payload.info).total_token_usage);
    if (total === null) return;
    const step = sum(total, negative(running.total ?? NO_TOKENS));
    running.total = total;
    const kinds = Object.values(step);
    if (kinds.every((value) => value === 0)) return;
    // A total that decreased starts a new count.
    running.sum = sum(running.sum, kinds.some((value) => value < 0) ? total : step);
    running.steps += 1;
  },
  usage_marks: ['"usage"', 'token_count', 'turn_context'],
};

function isProgress(payload: Table): boolean {
  const done = payload.type === 'task_complete' && !isTable(payload.error);
  const said = payload.type === 'message' && payload.role === 'assistant';
  return done || said || payload.type === 'function_call' || payload.type === 'custom_tool_call';
}

/** The latest end of the used-up windows; null if none is. */
function endOfWindows(windows: Table | null, at: number): number | null {
  const ends = [windows?.primary, windows?.secondary].flatMap((one): number[] => {
    const { used_percent, resets_at, resets_in_seconds } = asTable(one);
    if (typeof used_percent !== 'number' || used_percent < 100) return [];
    if (typeof resets_at === 'number') return [resets_at * 1000];
    return typeof resets_in_seconds === 'number' ? [at + resets_in_seconds * 1000] : [];
  });
  return ends.length === 0 ? null : Math.max(...ends);
}

/** Codex counts cached tokens as part of the input. */
function tokensOf(value: unknown): Tokens | null {
  const told = asTable(value);
  if (typeof told.input_tokens !== 'number' && typeof told.output_tokens !== 'number') return null;
  const cache_read = count(told.cached_input_tokens);
  const cache_write = count(told.cache_write_input_tokens);
  const input = Math.max(0, count(told.input_tokens) - cache_read - cache_write);
  return { input, cache_read, cache_write, output: count(told.output_tokens) };
}

function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
