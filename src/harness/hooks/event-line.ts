import { asTable } from '../table.ts';
import { commitFolder } from './git-command.ts';
import { isMachinePrompt } from './machine-prompts.ts';

/** One line of `events.jsonl`; `timestamp` in milliseconds. It contains no text of a message or a command. */
export type EventLine = {
  id: string;
  timestamp: number;
  type: string;
  sessionId: string | null;
  cwd: string | null;
  tmuxSession: string | null;
  harness: string;
  originName: string | null;
  tool?: string;
  toolInput?: Record<string, string | string[]>;
  /** The tool's input exceeds 8 KiB; its file names are kept all the same. */
  truncated?: true;
  /** Why a session started: `startup`, `resume`, `clear`, … */
  source?: string;
  /** A message that no person typed. */
  machine?: true;
};

/** One line of a run's `sessions.jsonl`: the session id that the agent program itself reports. */
type SessionStartLine = {
  at: number;
  type: 'session_start';
  source: string;
  session: string;
  transcript: string | null;
};

/** One line of a run's `usage-limits.jsonl`: the agent program's message when a turn failed at a usage limit. */
type UsageLimitLine = { at: number; type: 'usage_limit'; session: string | null; notice: string };

type Surroundings = {
  id: string;
  now: number;
  harness: string;
  mux_session: string | null;
  host: string | null;
};

/** Event types of the ledger, by the hook names of Claude Code and Codex. */
const TYPES: Readonly<Record<string, string>> = {
  SessionStart: 'session_start',
  UserPromptSubmit: 'user_prompt_submit',
  PreToolUse: 'pre_tool_use',
  PostToolUse: 'post_tool_use',
  Stop: 'stop',
  StopFailure: 'stop_failure',
  SubagentStop: 'subagent_stop',
  Notification: 'notification',
  SessionEnd: 'session_end',
};

/** Keys of a tool's input that contain file names; all other keys are dropped. */
const FILE_KEYS = ['files', 'file_path', 'path', 'notebook_path'];
const LONGEST_PATH = 4_096;
const MOST_FILES = 64;
/** A tool's input above this size in bytes is marked `truncated`. */
const LONGEST_INPUT = 8 * 1024;
const LONGEST_NOTICE = 400;
/** The oldest time that a hook may report for its call, before now; an older one comes from a different clock. */
const OLDEST_TOLD_MS = 60_000;

/** The ledger line of one hook call; null if it is not a ledger event. */
export function eventLine(input: unknown, around: Surroundings): EventLine | null {
  const hook = asTable(input);
  const type = TYPES[textOf(hook.hook_event_name) ?? ''];
  if (type === undefined) return null;
  const tool = textOf(hook.tool_name);
  const files = filesOf(asTable(hook.tool_input));
  const source = type === 'session_start' ? textOf(hook.source) : null;
  const machine = type === 'user_prompt_submit' && nobodyTyped(hook);
  const truncated =
    tool !== null && Buffer.byteLength(JSON.stringify(hook.tool_input ?? null)) > LONGEST_INPUT;
  return {
    id: around.id,
    timestamp: around.now,
    type,
    sessionId: textOf(hook.session_id),
    cwd: textOf(hook.cwd),
    tmuxSession: around.mux_session,
    harness: around.harness,
    originName: around.host,
    ...(tool === null ? {} : { tool }),
    ...(tool === null || Object.keys(files).length === 0 ? {} : { toolInput: files }),
    ...(truncated ? { truncated } : {}),
    ...(source === null ? {} : { source }),
    ...(machine ? { machine } : {}),
  };
}

/** The line that a run records for a session start; null for any other event, or without a session id. */
export function sessionStartLine(input: unknown, now: number): SessionStartLine | null {
  const hook = asTable(input);
  const session = textOf(hook.session_id);
  if (hook.hook_event_name !== 'SessionStart' || session === null) return null;
  return {
    at: now,
    type: 'session_start',
    source: textOf(hook.source) ?? 'startup',
    session,
    transcript: textOf(hook.transcript_path),
  };
}

/** The line with the program's message when a turn failed; null for any other event. */
export function failedTurnLine(input: unknown, now: number): UsageLimitLine | null {
  const hook = asTable(input);
  const notice = textOf(hook.last_assistant_message);
  if (hook.hook_event_name !== 'StopFailure' || notice === null) return null;
  return {
    at: now,
    type: 'usage_limit',
    session: textOf(hook.session_id),
    notice: notice.slice(0, LONGEST_NOTICE),
  };
}

/** When a hook was called, in milliseconds: the time in its input, which asynchronous hooks add, else now. */
export function toldAt(input: unknown, now: number): number {
  const { told_at } = asTable(input);
  const isOurs =
    typeof told_at === 'number' && Number.isSafeInteger(told_at) && told_at > now - OLDEST_TOLD_MS;
  return isOurs ? Math.min(told_at, now) : now;
}

/** The folder in which a tool that has just ended may have made a commit, and the session; null for any other event. */
export function commitTold(input: unknown): { folder: string; session: string | null } | null {
  const hook = asTable(input);
  if (hook.hook_event_name !== 'PostToolUse') return null;
  const folder = commitFolder(textOf(hook.tool_name), asTable(hook.tool_input), textOf(hook.cwd));
  return folder === null ? null : { folder, session: textOf(hook.session_id) };
}

function nobodyTyped(hook: Record<string, unknown>): boolean {
  return isMachinePrompt(textOf(hook.prompt) ?? '', textOf(hook.prompt_source));
}

function filesOf(input: Record<string, unknown>): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const key of FILE_KEYS) {
    const value = input[key];
    if (typeof value === 'string' && value.length <= LONGEST_PATH) kept[key] = value;
    if (Array.isArray(value)) {
      const paths = value.filter((one) => typeof one === 'string' && one.length <= LONGEST_PATH);
      if (paths.length > 0) kept[key] = paths.slice(0, MOST_FILES);
    }
  }
  return kept;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
