import type { HarnessName } from '../../contract/harness-name.ts';
import type { Words } from '../../contract/http/moment.ts';
import { HARNESSES } from '../harnesses.ts';
import type { JsonRecord } from './said.ts';

/** What was said in one record, in order; empty for records that are internal to the harness. */
export function wordsOf(harness: HarnessName, record: JsonRecord): Words[] {
  const { records } = HARNESSES[harness];
  const at = records.timeOf(record);
  if (at === null) return [];
  const said = records.saidIn(record).filter(({ text }) => text !== '');
  return said.map((words) => ({ at, ...words }));
}

/** The end of a text, of at most so many characters, cut between code points; a cut one begins with `…`. */
export function keepEnd(text: string, most: number): string {
  if (text.length <= most) return text;
  return `…${text.slice(1 - most).replace(/^[\udc00-\udfff]/, '')}`;
}

/** A text of at most so many characters, cut between code points; a cut one ends in `…`. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, most - 1);
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}…`;
}
