import type { HarnessName } from '../../contract/harness-name.ts';
import type { Words } from '../../contract/http/moment.ts';
import { asTable } from '../table.ts';

type Fields = Record<string, unknown>;

/** Milliseconds of a record, as its transcript tells them; null for a record without a time. */
export function timeOf(record: Fields): number | null {
  const { timestamp } = record;
  if (typeof timestamp !== 'string') return null;
  const at = Date.parse(timestamp);
  return Number.isNaN(at) ? null : at;
}

/** What is said in one record, in order: nothing for records that only the harness itself reads. */
export function wordsOf(harness: HarnessName, record: Fields): Words[] {
  const at = timeOf(record);
  if (at === null) return [];
  const said = harness === 'claude' ? claude(record) : harness === 'codex' ? codex(record) : pi(record);
  return said.filter(({ text }) => text !== '').map((words) => ({ at, ...words }));
}

type Said = Omit<Words, 'at'>;

function claude(record: Fields): Said[] {
  if (record.isMeta === true) return [];
  if (record.type === 'attachment') {
    const { type, prompt } = asTable(record.attachment);
    return type === 'queued_command' && typeof prompt === 'string' ? [person(prompt)] : [];
  }
  const { content } = asTable(record.message);
  if (record.type === 'user') {
    return parts(content).flatMap((part) => {
      if (part.type === 'tool_result') return [{ who: 'tool', tool: null, text: textOf(part.content) }];
      return typeof part.text === 'string' ? [person(part.text)] : [];
    });
  }
  if (record.type !== 'assistant') return [];
  return parts(content).flatMap((part) => {
    if (part.type === 'tool_use') return [call(part.name, part.input)];
    return part.type === 'text' ? [agent(textOf([part]))] : [];
  });
}

function codex(record: Fields): Said[] {
  if (record.type !== 'response_item') return [];
  const payload = asTable(record.payload);
  if (payload.type === 'function_call') return [call(payload.name, parsed(payload.arguments))];
  if (payload.type === 'custom_tool_call') return [call(payload.name, payload.input)];
  if (payload.type === 'function_call_output' || payload.type === 'custom_tool_call_output')
    return [{ who: 'tool', tool: null, text: textOf(payload.output) }];
  if (payload.type !== 'message') return [];
  const text = textOf(payload.content);
  if (payload.role === 'assistant') return [agent(text)];
  // The harness tells its surroundings as if a person had, in one element.
  const injected = /^<(environment_context|user_instructions|turn_aborted)>/.test(text);
  return payload.role === 'user' && !injected ? [person(text)] : [];
}

function pi(record: Fields): Said[] {
  const message = asTable(record.message);
  if (record.type !== 'message') return [];
  if (message.role === 'user') return [person(textOf(message.content))];
  if (message.role === 'toolResult')
    return [{ who: 'tool', tool: nameOf(message.toolName), text: textOf(message.content) }];
  if (message.role !== 'assistant') return [];
  return parts(message.content).flatMap((part) => {
    if (part.type === 'toolCall') return [call(part.name, part.arguments)];
    return part.type === 'text' ? [agent(textOf([part]))] : [];
  });
}

const person = (text: string): Said => ({ who: 'person', tool: null, text });
const agent = (text: string): Said => ({ who: 'agent', tool: null, text });

function call(name: unknown, input: unknown): Said {
  return { who: 'agent', tool: nameOf(name), text: briefly(input) };
}

function nameOf(name: unknown): string | null {
  return typeof name === 'string' ? name : null;
}

/** The field of a tool's input that says most, else the whole of it. */
function briefly(input: unknown): string {
  if (typeof input === 'string') return input;
  const table = asTable(input);
  for (const field of ['command', 'cmd', 'file_path', 'path', 'pattern', 'url', 'query', 'description']) {
    const value = table[field];
    if (typeof value === 'string' && value !== '') return value;
  }
  return JSON.stringify(input) ?? '';
}

function parts(content: unknown): Fields[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.map(asTable) : [];
}

function textOf(content: unknown): string {
  return parts(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .filter((text) => text !== '')
    .join('\n');
}

function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
