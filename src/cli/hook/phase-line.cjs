// @ts-check
'use strict';

/**
 * One line of a run's `phases.jsonl`: the start, the end and the questions of a turn, as the agent program reports them.
 *
 * @typedef {object} PhaseLine
 * @property {number} at milliseconds
 * @property {string} session
 * @property {'working' | 'waiting' | 'attention' | 'idle'} phase
 * @property {string | null} said
 */

/** @type {Readonly<Record<string, PhaseLine['phase']>>} */
const PHASES = {
  UserPromptSubmit: 'working',
  PostToolUse: 'working',
  PermissionRequest: 'waiting',
  PromptAnswered: 'working',
  Stop: 'idle',
  StopFailure: 'attention',
};
const MOST_SAID = 500;

/**
 * The line that a run records for one hook call; null if the call is not about a phase or has no session.
 *
 * @param {unknown} input
 * @param {number} now
 * @returns {PhaseLine | null}
 */
function phaseLine(input, now) {
  if (typeof input !== 'object' || input === null) return null;
  const hook = /** @type {Record<string, unknown>} */ (input);
  const phase = phaseTold(hook);
  if (phase === undefined || typeof hook.session_id !== 'string' || hook.session_id === '') return null;
  return { at: now, session: hook.session_id, phase, said: saidIn(hook) };
}

/** @param {Record<string, unknown>} hook */
function phaseTold(hook) {
  if (hook.hook_event_name === 'Notification')
    return hook.notification_type === 'permission_prompt' ? 'waiting' : undefined;
  return PHASES[String(hook.hook_event_name)];
}

/** @param {Record<string, unknown>} hook */
function saidIn(hook) {
  const { last_assistant_message, message, tool_name, hook_event_name } = hook;
  const said =
    hook_event_name === 'PermissionRequest' && typeof tool_name === 'string'
      ? askedFor(tool_name, tableOf(hook.tool_input))
      : (last_assistant_message ?? message);
  return typeof said === 'string' && said !== '' ? cut(said) : null;
}

/**
 * What a dialog asks, in the words of the agent where the tool has some: a question, or the command to run.
 *
 * @param {string} tool
 * @param {Record<string, unknown>} input
 */
function askedFor(tool, input) {
  const questions = Array.isArray(input.questions) ? input.questions.map((one) => tableOf(one).question) : [];
  const words = questions.filter((one) => typeof one === 'string' && one !== '');
  if (words.length > 0) return words.join(' ');
  const { command, file_path, url } = input;
  if (typeof command === 'string' && command !== '') return `asks to run: ${command}`;
  const object = file_path ?? url;
  return `asks to use ${tool}${typeof object === 'string' && object !== '' ? `: ${object}` : ''}`;
}

/**
 * @param {unknown} value
 * @returns {Record<string, unknown>}
 */
function tableOf(value) {
  return typeof value === 'object' && value !== null ? /** @type {Record<string, unknown>} */ (value) : {};
}

/** @param {string} text */
function cut(text) {
  return text.length <= MOST_SAID ? text : `${text.slice(0, MOST_SAID - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

module.exports = { phaseLine };
