import { commitFolder } from './git-command.ts';
import { isMachinePrompt } from './machine-prompts.ts';

/** Event types of the ledger, by the name that Claude Code and Codex give the hook. */
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

/** Keys of a tool's input that name files; nothing else of it is kept. */
const FILE_KEYS = ['files', 'file_path', 'path', 'notebook_path'] as const;
const LONGEST_PATH = 4_096;
const MOST_FILES = 64;
/** A tool's input of more bytes than this is told to have been cut. */
const LONGEST_INPUT = 8 * 1024;

/** One line of `events.jsonl`; `timestamp` in milliseconds. It holds no text of a message or of a command. */
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
  /** True for a tool's input of over 8 KiB; its files are kept like those of any other. */
  truncated?: true;
  /** Why a session started: `startup`, `resume`, `clear`, … */
  source?: string;
  /** True for a message that no person typed. */
  machine?: true;
};

/** One line of a run's `sessions.jsonl`: the session id that the agent program itself reports. */
export type SessionStartLine = {
  at: number;
  type: 'session_start';
  source: string;
  session: string;
  transcript: string | null;
};

/** One line of a run's `usage-limits.jsonl`: what the agent program said when a turn failed at a limit of its account. */
export type UsageLimitLine = { at: number; type: 'usage_limit'; session: string | null; notice: string };

const LONGEST_NOTICE = 400;

type Surroundings = {
  id: string;
  now: number;
  harness: string;
  mux_session: string | null;
  host: string | null;
};

/** The ledger line of one hook call, or null for what is no event of the ledger. */
export function eventLine(input: unknown, around: Surroundings): EventLine | null {
  const hook = record(input);
  const type = TYPES[textOf(hook.hook_event_name) ?? ''];
  if (type === undefined) return null;
  const tool = textOf(hook.tool_name);
  const files = filesOf(record(hook.tool_input));
  const source = type === 'session_start' ? textOf(hook.source) : null;
  const machine =
    type === 'user_prompt_submit' && isMachinePrompt(textOf(hook.prompt) ?? '', textOf(hook.prompt_source));
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
    ...(truncated ? { truncated: true as const } : {}),
    ...(source === null ? {} : { source }),
    ...(machine ? { machine: true as const } : {}),
  };
}

/** What a run keeps of a session start; null for any other event, or one without a session id. */
export function sessionStartLine(input: unknown, now: number): SessionStartLine | null {
  const hook = record(input);
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

/** What a program said when a turn failed; null for any other event. */
export function failedTurnLine(input: unknown, now: number): UsageLimitLine | null {
  const hook = record(input);
  const notice = textOf(hook.last_assistant_message);
  if (hook.hook_event_name !== 'StopFailure' || notice === null) return null;
  return {
    at: now,
    type: 'usage_limit',
    session: textOf(hook.session_id),
    notice: notice.slice(0, LONGEST_NOTICE),
  };
}

/** How much earlier than now a hook may say that it was called; beyond that its clock is not ours. */
const OLDEST_TOLD_MS = 60_000;

/** When a hook was called, in milliseconds: by its own word where it gives one, as those do that nobody waits for. */
export function toldAt(input: unknown, now: number): number {
  const { told_at } = record(input);
  const isOurs = Number.isSafeInteger(told_at) && (told_at as number) > now - OLDEST_TOLD_MS;
  return isOurs ? Math.min(told_at as number, now) : now;
}

function filesOf(input: Record<string, unknown>): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const key of FILE_KEYS) {
    const value = input[key];
    if (typeof value === 'string' && value.length <= LONGEST_PATH) kept[key] = value;
    if (Array.isArray(value)) {
      const paths = value.filter(
        (one): one is string => typeof one === 'string' && one.length <= LONGEST_PATH,
      );
      if (paths.length > 0) kept[key] = paths.slice(0, MOST_FILES);
    }
  }
  return kept;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Where a tool that has just ended may have made a commit, and for which session; null for anything else. */
export function commitTold(input: unknown): { folder: string; session: string | null } | null {
  const hook = record(input);
  if (hook.hook_event_name !== 'PostToolUse') return null;
  const folder = commitFolder(textOf(hook.tool_name), record(hook.tool_input), textOf(hook.cwd));
  return folder === null ? null : { folder, session: textOf(hook.session_id) };
}
