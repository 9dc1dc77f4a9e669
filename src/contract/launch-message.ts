/** How every launch message begins (PRM-1). */
export const LAUNCH_PREAMBLE = 'You are a fiber worker:';
/** The line above the user's words in a launch message (PRM-7). */
export const FROM_USER = 'From User:';

/** What a person wrote of a message to an agent: all of it, or the user's words of a launch message; null for none. */
export function wordsOfPerson(message: string): string | null {
  if (!message.startsWith(LAUNCH_PREAMBLE)) return message;
  const at = message.indexOf(`\n${FROM_USER}\n`);
  return at < 0 ? null : message.slice(at + FROM_USER.length + 2);
}
