import type { Words } from '../../contract/http/moment.ts';
import { asTable } from '../table.ts';

/** A record of a transcript with unchecked fields. */
export type JsonRecord = Record<string, unknown>;
/** Something that was said in a record, without the record's time. */
export type Said = Omit<Words, 'at'>;

/** The ISO `timestamp` of a record in milliseconds; null if it has none. */
export function timestampOf({ timestamp }: JsonRecord): number | null {
  if (typeof timestamp !== 'string') return null;
  const at = Date.parse(timestamp);
  return Number.isNaN(at) ? null : at;
}

export const person = (text: string): Said => ({ who: 'person', tool: null, text });
export const agent = (text: string): Said => ({ who: 'agent', tool: null, text });
export const answer = (tool: unknown, text: string): Said => ({ who: 'tool', tool: nameOf(tool), text });

export function call(name: unknown, input: unknown): Said {
  return { who: 'agent', tool: nameOf(name), text: briefly(input) };
}

function nameOf(name: unknown): string | null {
  return typeof name === 'string' ? name : null;
}

/** The most informative field of a tool's input, else all of it. */
function briefly(input: unknown): string {
  if (typeof input === 'string') return input;
  const table = asTable(input);
  for (const field of ['command', 'cmd', 'file_path', 'path', 'pattern', 'url', 'query', 'description']) {
    const value = table[field];
    if (typeof value === 'string' && value !== '') return value;
  }
  return JSON.stringify(input) ?? '';
}

/** The parts of a message's content; plain text is one part. */
export function parts(content: unknown): JsonRecord[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.map(asTable) : [];
}

/** The texts of a message's content, one per line. */
export function textOf(content: unknown): string {
  return parts(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .filter((text) => text !== '')
    .join('\n');
}
