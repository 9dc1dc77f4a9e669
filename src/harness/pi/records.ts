import type { TranscriptRecords } from '../harness.ts';
import { asTable } from '../table.ts';
import { parseResetTime } from '../transcripts/reset-time.ts';
import { agent, answer, call, parts, person, textOf, timestampOf } from '../transcripts/said.ts';
import { addModel, count } from '../transcripts/token-usage.ts';
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

  addUsage({ answers, models }, record) {
    const message = asTable(record.message);
    if (record.type !== 'message' || message.role !== 'assistant') return;
    const told = asTable(message.usage);
    if (typeof told.input !== 'number' && typeof told.output !== 'number') return;
    // Its ids are short; only an id with its time identifies a record.
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
  },
  usage_marks: ['"usage"'],
};
