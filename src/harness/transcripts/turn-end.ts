import { type JsonRecord, timestampOf } from './said.ts';

/** The end of a turn that no hook reports; `failed` is the program's message if it failed. */
export type TurnEnd = { at: number; failed: string | null };

/** The end of a turn at the time of a record; null for a record without a time. */
export function endAt(record: JsonRecord, failed: string | null): TurnEnd | null {
  const at = timestampOf(record);
  return at === null ? null : { at, failed };
}
