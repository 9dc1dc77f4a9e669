import type { HarnessName } from '../../contract/harness-name.ts';
import { readTail } from './transcript-tail.ts';
import { wordsOf } from './transcript-words.ts';

const MOST_SAID = 500;

/** The agent's last message in a transcript, at most 500 characters; null if the end of the file contains none. */
export async function lastSaid(harness: HarnessName, transcript: string): Promise<string | null> {
  for (const record of await readTail(transcript)) {
    const said = wordsOf(harness, record).findLast(({ who, tool }) => who === 'agent' && tool === null);
    if (said === undefined) continue;
    return cutSaid(said.text);
  }
  return null;
}

/** What was said, cut to 500 characters. */
export function cutSaid(text: string): string {
  return text.length <= MOST_SAID ? text : `${text.slice(0, MOST_SAID - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
