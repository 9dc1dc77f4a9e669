// @ts-check
// Modules that only some events need are loaded on demand.
'use strict';

/**
 * One line of `events.jsonl`; `timestamp` in milliseconds. It contains no text of a message or a command.
 *
 * @typedef {object} EventLine
 * @property {string} id
 * @property {number} timestamp
 * @property {string} type
 * @property {string | null} sessionId
 * @property {string | null} cwd
 * @property {string | null} tmuxSession
 * @property {string} harness
 * @property {string | null} originName
 * @property {string} [tool]
 * @property {Record<string, string | string[]>} [toolInput]
 * @property {true} [truncated] if the tool's input exceeds 8 KiB; its file names are kept all the same
 * @property {string} [source] why a session started: `startup`, `resume`, `clear`, …
 * @property {true} [machine] for a message that no person typed
 *
 * One line of a run's `sessions.jsonl`: the session id that the agent program itself reports.
 * @typedef {{ at: number, type: 'session_start', source: string, session: string, transcript: string | null }} SessionStartLine
 *
 * One line of a run's `usage-limits.jsonl`: the agent program's message when a turn failed at a usage limit.
 * @typedef {{ at: number, type: 'usage_limit', session: string | null, notice: string }} UsageLimitLine
 *
 * @typedef {{ id: string, now: number, harness: string, mux_session: string | null, host: string | null }} Surroundings
 */

/**
 * Event types of the ledger, by the hook names of Claude Code and Codex.
 * @type {Readonly<Record<string, string>>}
 */
const TYPES = {
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

/**
 * The ledger line of one hook call; null if it is not a ledger event.
 *
 * @param {unknown} input
 * @param {Surroundings} around
 * @returns {EventLine | null}
 */
function eventLine(input, around) {
  const hook = record(input);
  const type = TYPES[textOf(hook.hook_event_name) ?? ''];
  if (type === undefined) return null;
  const tool = textOf(hook.tool_name);
  const files = filesOf(record(hook.tool_input));
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

/**
 * The line that a run records for a session start; null for any other event, or without a session id.
 *
 * @param {unknown} input
 * @param {number} now
 * @returns {SessionStartLine | null}
 */
function sessionStartLine(input, now) {
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

/**
 * The line with the program's message when a turn failed; null for any other event.
 *
 * @param {unknown} input
 * @param {number} now
 * @returns {UsageLimitLine | null}
 */
function failedTurnLine(input, now) {
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

/**
 * When a hook was called, in milliseconds: the time in its input, which asynchronous hooks add, else now.
 *
 * @param {unknown} input
 * @param {number} now
 */
function toldAt(input, now) {
  const { told_at } = record(input);
  const isOurs =
    typeof told_at === 'number' && Number.isSafeInteger(told_at) && told_at > now - OLDEST_TOLD_MS;
  return isOurs ? Math.min(told_at, now) : now;
}

/**
 * The folder in which a tool that has just ended may have made a commit, and the session; null for any other event.
 *
 * @param {unknown} input
 * @returns {{ folder: string, session: string | null } | null}
 */
function commitTold(input) {
  const hook = record(input);
  if (hook.hook_event_name !== 'PostToolUse') return null;
  const { commitFolder } = require('./git-command.cjs');
  const folder = commitFolder(textOf(hook.tool_name), record(hook.tool_input), textOf(hook.cwd));
  return folder === null ? null : { folder, session: textOf(hook.session_id) };
}

/** @param {Record<string, unknown>} hook */
function nobodyTyped(hook) {
  const { isMachinePrompt } = require('./machine-prompts.cjs');
  return isMachinePrompt(textOf(hook.prompt) ?? '', textOf(hook.prompt_source));
}

/** @param {Record<string, unknown>} input */
function filesOf(input) {
  /** @type {Record<string, string | string[]>} */
  const kept = {};
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

/**
 * @param {unknown} value
 * @returns {Record<string, unknown>}
 */
function record(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? /** @type {Record<string, unknown>} */ (value)
    : {};
}

/** @param {unknown} value */
function textOf(value) {
  return typeof value === 'string' && value !== '' ? value : null;
}

module.exports = { commitTold, eventLine, failedTurnLine, sessionStartLine, toldAt };
