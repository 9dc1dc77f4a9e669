import { CodedError } from '../../base/errors.ts';
import {
  appendToList,
  layOut,
  parseCommented,
  removeFromList,
  removeKey,
  setKey,
  standsTwice,
} from '../../config/json-splice.ts';
import { isHookCommand } from './hook-command.ts';

/** Timeout of a hook in the agent program, in seconds. */
const HOOK_TIMEOUT_S = 5;

type Json = Record<string, unknown>;

/** The position of one of our entries: `hooks.<event>[group].hooks[0]`. */
export type HookPlace = { event: string; group: number };

/**
 * The settings text with one entry of ours at the end of each event's list; it replaces our older entries. Every other
 * byte stays, comments too. Throws `invalid_config` if the text is not valid settings.
 */
export function withHooks(
  path: string,
  text: string | null,
  events: readonly string[],
  command: string,
): { text: string; places: HookPlace[] } {
  const kept = text === null || text.trim() === '' ? null : withoutHooks(path, text);
  const entry = { hooks: [{ type: 'command', command, timeout: HOOK_TIMEOUT_S }] };
  const before = tableOf(path, kept === null ? undefined : parse(path, kept).hooks);
  const places = events.map((event) => ({ event, group: listOf(path, event, before[event]).length }));
  if (kept === null || Object.keys(before).length === 0) {
    const hooks = Object.fromEntries(events.map((event) => [event, [entry]]));
    if (kept === null || Object.keys(parse(path, kept)).length === 0)
      return { text: `${JSON.stringify({ hooks }, null, 2)}\n`, places };
    return { text: layOut(setKey(kept, ['hooks'], hooks), ['hooks']), places };
  }
  let put = kept;
  for (const { event, group } of places) {
    const list = ['hooks', event];
    put =
      before[event] === undefined
        ? layOut(setKey(put, list, [entry]), list)
        : layOut(appendToList(put, list, entry), [...list, group]);
  }
  return { text: put, places };
}

/** The settings text without our entries and without lists that become empty; the same text if there are none. */
export function withoutHooks(path: string, text: string): string {
  let left = text;
  for (const [event, value] of Object.entries(tableOf(path, parse(path, text).hooks))) {
    const list = ['hooks', event];
    const groups = listOf(path, event, value);
    let kept = groups.length;
    for (const [at, group] of [...groups.entries()].reverse()) {
      const handlers: unknown[] = isJson(group) && Array.isArray(group.hooks) ? group.hooks : [];
      const ours = [...handlers.keys()].filter((index) => isOurs(handlers[index]));
      if (ours.length > 0 && ours.length === handlers.length) {
        left = removeFromList(left, list, at);
        kept -= 1;
      } else for (const index of ours.reverse()) left = removeFromList(left, [...list, at, 'hooks'], index);
    }
    if (kept === 0 && groups.length > 0) left = removeKey(left, list);
  }
  if (left === text) return text;
  return Object.keys(tableOf(path, parse(path, left).hooks)).length === 0 ? removeKey(left, ['hooks']) : left;
}

function isOurs(handler: unknown): boolean {
  return isJson(handler) && typeof handler.command === 'string' && isHookCommand(handler.command);
}

function parse(path: string, text: string): Json {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = parseCommented(text);
  } catch {
    throw unreadable(path, 'it is not JSON');
  }
  if (!isJson(value)) throw unreadable(path, 'it holds no JSON object');
  const edited = [
    ['hooks'],
    ...Object.keys(isJson(value.hooks) ? value.hooks : {}).map((event) => ['hooks', event]),
  ];
  const doubled = edited.find((key) => standsTwice(text, key));
  if (doubled !== undefined)
    throw unreadable(path, `"${doubled.join('.')}" stands twice in it, and only one of them counts`);
  return value;
}

function tableOf(path: string, value: unknown): Json {
  if (value === undefined) return {};
  if (!isJson(value)) throw unreadable(path, '"hooks" is not an object');
  return value;
}

function listOf(path: string, event: string, value: unknown): unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw unreadable(path, `"hooks.${event}" is not a list`);
  return value;
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unreadable(path: string, why: string): CodedError {
  return new CodedError(
    'invalid_config',
    `${path} was not changed: ${why}; correct or move the file, then run this again`,
    { details: { path } },
  );
}
