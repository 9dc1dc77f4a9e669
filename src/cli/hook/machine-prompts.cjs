// @ts-check
'use strict';

/**
 * How messages begin that a harness or the service puts in and nobody typed: launch messages, words of other
 * sessions, notices of background work, and what a hook made the agent go on with.
 */
const OPENINGS = [
  'You are a fiber worker:',
  // The launch message of Pi, which puts it in place of the name of its file.
  '<file name="',
  'Another Claude session sent a message:',
  'Stop hook feedback:',
  '<task-notification>',
  '<hook_prompt',
  '<system-reminder>',
  '<cross-session-message',
  '<teammate-message',
];

/**
 * True for a prompt that no person typed; `source` is what the harness itself says of where it came from.
 *
 * @param {string} prompt
 * @param {string | null} source
 */
function isMachinePrompt(prompt, source) {
  if (source === 'extension' || source === 'system') return true;
  const text = prompt.trimStart();
  return OPENINGS.some((opening) => text.startsWith(opening));
}

module.exports = { isMachinePrompt };
