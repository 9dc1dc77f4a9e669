/**
 * How messages begin that a harness or the service inserts and nobody typed: launch messages, messages of other
 * sessions, notices of background work, and feedback of hooks.
 */
const OPENINGS = [
  'You are a fiber worker:',
  // The launch message of Pi, which replaces the file's name with its text.
  '<file name="',
  'Another Claude session sent a message:',
  'Stop hook feedback:',
  '<task-notification>',
  '<hook_prompt',
  '<system-reminder>',
  '<cross-session-message',
  '<teammate-message',
];

/** A message through the service, which records by itself what a person wrote. */
const MESSAGE = /^\[message [A-Za-z0-9._-]+ (\(ends with \w+\) )?from /;

/** True for a prompt that no person typed; `source` is the origin that the harness reports. */
export function isMachinePrompt(prompt: string, source: string | null): boolean {
  if (source === 'extension' || source === 'system') return true;
  const text = prompt.trimStart();
  if (MESSAGE.test(text)) return true;
  return OPENINGS.some((opening) => text.startsWith(opening));
}
