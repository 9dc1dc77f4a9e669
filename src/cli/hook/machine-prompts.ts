/**
 * How messages begin that a harness or the service puts in and nobody typed: launch messages, words of other
 * sessions, notices of background work, and what a hook made the agent go on with.
 */
const OPENINGS = [
  'You are a fiber worker:',
  'Another Claude session sent a message:',
  'Stop hook feedback:',
  '<task-notification>',
  '<hook_prompt',
  '<system-reminder>',
  '<cross-session-message',
  '<teammate-message',
] as const;

/** True for a prompt that no person typed; `source` is what the harness itself says of where it came from. */
export function isMachinePrompt(prompt: string, source: string | null): boolean {
  if (source === 'extension' || source === 'system') return true;
  const text = prompt.trimStart();
  return OPENINGS.some((opening) => text.startsWith(opening));
}
