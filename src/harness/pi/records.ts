import type { Tokens } from '../../contract/http/spend.ts';
import type { TranscriptRecords } from '../harness.ts';
import { asTable, type Table } from '../table.ts';
import { parseResetTime } from '../transcripts/reset-time.ts';
import { agent, answer, call, parts, person, textOf, timestampOf } from '../transcripts/said.ts';
import { addModel, count, totalOf } from '../transcripts/token-usage.ts';
import { isLimit, limited, NO_SIGN } from '../transcripts/usage-limit.ts';

/** How to read the records of Pi. */
export const records: TranscriptRecords = {
  timeOf: timestampOf,
  folderOf: (record) => record.cwd,

  saidIn(record) {
    const message = asTable(record.message);
    if (record.type !== 'message') return [];
    if (message.role === 'user') return [person(textOf(message.content))];
    if (message.role === 'toolResult') return [answer(message.toolName, textOf(message.content))];
    if (message.role !== 'assistant') return [];
    return parts(message.content).flatMap((part) => {
      if (part.type === 'toolCall') return [call(part.name, part.arguments)];
      return part.type === 'text' ? [agent(textOf([part]))] : [];
    });
  },

  /** Its extension reports every end. */
  turnEnd: () => null,

  usageSign(newest, zone) {
    for (const record of newest) {
      const message = asTable(record.message);
      if (record.type !== 'message' || message.role !== 'assistant') continue;
      const at = timestampOf(record) ?? 0;
      if (message.stopReason === 'aborted') continue;
      if (message.stopReason !== 'error') return { kind: 'working', at };
      const notice = String(message.errorMessage ?? '');
      if (!isLimit(notice) && !notice.includes('usage_limit_reached')) continue;
      const seconds = /"resets_at": ?(\d{9,11})\b/.exec(notice)?.[1];
      const resets_at = seconds === undefined ? parseResetTime(notice, at, zone) : Number(seconds) * 1000;
      return limited({ notice, at, resets_at });
    }
    return NO_SIGN;
  },

  /** No record tells the size of its window. */
  contextUse(newest) {
    for (const record of newest) {
      if (record.type === 'compaction') return null;
      const message = asTable(record.message);
      if (record.type !== 'message' || message.role !== 'assistant') continue;
      // An answer that was aborted or failed counts nothing.
      if (message.stopReason === 'aborted' || message.stopReason === 'error') continue;
      const tokens = tokensIn(asTable(message.usage));
      if (tokens !== null) return { tokens: totalOf(tokens), most: null };
    }
    return null;
  },

  addUsage({ answers, models }, record) {
    const message = asTable(record.message);
    if (record.type !== 'message' || message.role !== 'assistant') return;
    const tokens = tokensIn(asTable(message.usage));
    if (tokens === null) return;
    // Its ids are short; only an id with its time identifies a record.
    const origin = `${String(record.id)} ${String(record.timestamp)}`;
    answers.set(origin, { origin, tokens });
    addModel(models, message.model);
  },
  usage_marks: ['"usage"'],
};

function tokensIn(told: Table): Tokens | null {
  if (typeof told.input !== 'number' && typeof told.output !== 'number') return null;
  return {
    input: count(told.input),
    cache_read: count(told.cacheRead),
    cache_write: count(told.cacheWrite),
    output: count(told.output),
  };
}
