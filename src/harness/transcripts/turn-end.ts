import type { HarnessName } from '../../contract/harness-name.ts';
import { asTable } from '../table.ts';

/** The end of a turn that no hook tells of; `failed` is what the program said of its failure. */
export type TurnEnd = { at: number; failed: string | null };

type JsonRecord = Record<string, unknown>;

/**
 * Whether the turn at the end of a transcript is over, by the records of its end, newest first. Null while it goes
 * on, and where hooks tell of every end: Codex has none for a turn that failed or was cut short, Claude Code none for
 * one that was cut short, and Pi tells all.
 */
export function readTurnEnd(harness: HarnessName, newest: Iterable<JsonRecord>): TurnEnd | null {
  if (harness === 'codex') return codexEnd(newest);
  return harness === 'claude' ? claudeEnd(newest) : null;
}

function codexEnd(newest: Iterable<JsonRecord>): TurnEnd | null {
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
}

const CUT_SHORT = '[Request interrupted by user';

function claudeEnd(newest: Iterable<JsonRecord>): TurnEnd | null {
  for (const record of newest) {
    if (record.isSidechain === true) continue;
    if (record.type === 'assistant') return null;
    if (record.type !== 'user') continue;
    const { content } = asTable(record.message);
    const text = typeof content === 'string' ? content : textOf(content);
    return text.startsWith(CUT_SHORT) ? endAt(record, null) : null;
  }
  return null;
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return '';
  const text = content.map(asTable).find(({ type }) => type === 'text')?.text;
  return typeof text === 'string' ? text : '';
}

function endAt(record: JsonRecord, failed: string | null): TurnEnd | null {
  const at = Date.parse(String(record.timestamp));
  return Number.isNaN(at) ? null : { at, failed };
}
