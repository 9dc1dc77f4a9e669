import { CodedError } from '../../base/errors.ts';
import { isHookCommand } from './hook-command.ts';

/** Timeout of a hook in the agent program, in seconds. */
const HOOK_TIMEOUT_S = 5;

type Json = Record<string, unknown>;

/** The position of one of our entries: `hooks.<event>[group].hooks[0]`. */
export type HookPlace = { event: string; group: number };

/**
 * The settings text with one entry of ours at the end of each event's list; it replaces our older entries. The rest is
 * not changed, and the indentation is kept. Throws `invalid_config` if the text is not valid settings.
 */
export function withHooks(
  path: string,
  text: string | null,
  events: readonly string[],
  command: string,
): { text: string; places: HookPlace[] } {
  const settings = parse(path, text);
  const kept = stripped(path, settings);
  const hooks = { ...tableOf(path, kept.hooks) };
  const places: HookPlace[] = [];
  for (const event of events) {
    const before = listOf(path, event, hooks[event]);
    hooks[event] = [...before, { hooks: [{ type: 'command', command, timeout: HOOK_TIMEOUT_S }] }];
    places.push({ event, group: before.length });
  }
  return { text: render({ ...kept, hooks }, text), places };
}

/** The settings text without our entries and without lists that become empty; the same text if there are none. */
export function withoutHooks(path: string, text: string): string {
  const settings = parse(path, text);
  const kept = stripped(path, settings);
  return JSON.stringify(kept) === JSON.stringify(settings) ? text : render(kept, text);
}

function stripped(path: string, settings: Json): Json {
  if (settings.hooks === undefined) return settings;
  const hooks: Json = {};
  let removed = false;
  for (const [event, value] of Object.entries(tableOf(path, settings.hooks))) {
    const groups = listOf(path, event, value);
    const left = groups.flatMap((group) => {
      const handlers = isJson(group) && Array.isArray(group.hooks) ? group.hooks : null;
      const others = handlers?.filter((handler) => !isOurs(handler));
      if (handlers === null || others === undefined || others.length === handlers.length) return [group];
      removed = true;
      return others.length === 0 ? [] : [{ ...(group as Json), hooks: others }];
    });
    if (left.length > 0 || groups.length === 0) hooks[event] = left;
  }
  if (!removed) return settings;
  if (Object.keys(hooks).length > 0) return { ...settings, hooks };
  const { hooks: _, ...rest } = settings;
  return rest;
}

function isOurs(handler: unknown): boolean {
  return isJson(handler) && typeof handler.command === 'string' && isHookCommand(handler.command);
}

function parse(path: string, text: string | null): Json {
  if (text === null || text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable(path, 'it is not JSON');
  }
  if (!isJson(value)) throw unreadable(path, 'it holds no JSON object');
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

function render(settings: Json, like: string | null): string {
  const indent =
    /^[[{]\r?\n([ \t]+)/.exec(like ?? '')?.[1] ?? (like === null || like.includes('\n') ? '  ' : undefined);
  const end = like === null || like.endsWith('\n') ? '\n' : '';
  return `${JSON.stringify(settings, null, indent)}${end}`;
}
