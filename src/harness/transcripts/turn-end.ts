import { type JsonRecord, timestampOf } from './said.ts';

/** The end of a turn that no hook tells of; `failed` is what the program said of its failure. */
export type TurnEnd = { at: number; failed: string | null };

/** The end that a record tells; null for a record without a time. */
export function endAt(record: JsonRecord, failed: string | null): TurnEnd | null {
  const at = timestampOf(record);
  return at === null ? null : { at, failed };
}
