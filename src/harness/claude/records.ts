import type { Tokens } from '../../contract/http/spend.ts';
import type { TranscriptRecords } from '../harness.ts';
import { asTable, type Table } from '../table.ts';
import {
  agent,
  answer,
  call,
  type JsonRecord,
  parts,
  person,
  textOf,
  timestampOf,
} from '../transcripts/said.ts';
import { addModel, count, totalOf } from '../transcripts/token-usage.ts';
import { endAt } from '../transcripts/turn-end.ts';
import { NO_SIGN, readUsageNotice } from '../transcripts/usage-limit.ts';

const CUT_SHORT = '[Request interrupted by user';

/** How to read the records of Claude Code. */
export const records: TranscriptRecords = {
  timeOf: timestampOf,
  folderOf: (record) => record.cwd,

  saidIn(record) {
    if (record.isMeta === true) return [];
    if (record.type === 'attachment') {
      const { type, prompt } = asTable(record.attachment);
      return type === 'queued_command' && typeof prompt === 'string' ? [person(prompt)] : [];
    }
    const { content } = asTable(record.message);
    if (record.type === 'user') {
      return parts(content).flatMap((part) => {
        if (part.type === 'tool_result') return [answer(null, textOf(part.content))];
        return typeof part.text === 'string' ? [person(part.text)] : [];
      });
    }
    if (record.type !== 'assistant') return [];
    return parts(content).flatMap((part) => {
      if (part.type === 'tool_use') return [call(part.name, part.input)];
      return part.type === 'text' ? [agent(textOf([part]))] : [];
    });
  },

  /** Its hooks report the end of every turn except an interrupted one. */
  turnEnd(newest) {
    for (const record of newest) {
      if (record.isSidechain === true) continue;
      if (record.type === 'assistant') return null;
      if (record.type !== 'user') continue;
      return firstText(record).startsWith(CUT_SHORT) ? endAt(record, null) : null;
    }
    return null;
  },

  usageSign(newest, zone) {
    for (const record of newest) {
      if (record.type !== 'assistant') continue;
      const at = timestampOf(record) ?? 0;
      if (record.isApiErrorMessage !== true) return { kind: 'working', at };
      const sign = readUsageNotice(joined(asTable(record.message).content), at, zone);
      if (sign.kind !== 'none') return sign;
    }
    return NO_SIGN;
  },

  /** No record tells the size of its window. */
  contextUse(newest) {
    for (const record of newest) {
      if (record.isSidechain === true) continue;
      if (record.subtype === 'compact_boundary') return null;
      const { model, usage } = asTable(record.message);
      if (record.type !== 'assistant' || model === '<synthetic>') continue;
      const tokens = tokensIn(asTable(usage));
      if (tokens !== null) return { tokens: totalOf(tokens), most: null };
    }
    return null;
  },

  /** An answer is written as several records with the same id; the last one has the final count. */
  addUsage({ answers, models }, record) {
    const message = asTable(record.message);
    const { id, model } = message;
    if (record.type !== 'assistant' || typeof id !== 'string' || model === '<synthetic>') return;
    const tokens = tokensIn(asTable(message.usage));
    if (tokens === null) return;
    answers.set(id, { origin: answers.get(id)?.origin ?? String(record.uuid), tokens });
    addModel(models, model);
  },
  usage_marks: ['"usage"'],
};

function tokensIn(told: Table): Tokens | null {
  if (typeof told.input_tokens !== 'number' && typeof told.output_tokens !== 'number') return null;
  return {
    input: count(told.input_tokens),
    cache_read: count(told.cache_read_input_tokens),
    cache_write: count(told.cache_creation_input_tokens),
    output: count(told.output_tokens),
  };
}

function firstText(record: JsonRecord): string {
  const { text } = parts(asTable(record.message).content).find(({ type }) => type === 'text') ?? {};
  return typeof text === 'string' ? text : '';
}

function joined(content: unknown): string {
  return parts(content)
    .map(({ text }) => String(text ?? ''))
    .join('');
}
