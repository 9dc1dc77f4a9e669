import { isCoded } from '../../../base/errors.ts';
import type { LifeEntry } from '../../../contract/http/life.ts';
import { type Moment, momentSchema } from '../../../contract/http/moment.ts';
import type { DaemonClient } from '../../daemon-client/client.ts';
import { isMachinePrompt } from '../../hook/machine-prompts.cjs';

const MINUTE_MS = 60_000;
/** Most entries whose words are looked up: each one is a request, which reads a part of a transcript. */
const MOST_ENTRIES = 20;

type Prompts = Extract<LifeEntry, { kind: 'prompts' }>;
/** Something that a person typed into a session, at a time in milliseconds. */
export type Typed = { at: number; text: string };

/**
 * What people typed, of the newest entries that count prompts: the ledgers keep no text, so that it is read from the
 * transcripts of this host. An entry is missing where its transcript is, and where that tells another number of prompts.
 */
export async function typedWords(
  daemon: DaemonClient,
  entries: readonly LifeEntry[],
): Promise<Map<LifeEntry, Typed[]>> {
  const counted = entries.filter((entry): entry is Prompts => entry.kind === 'prompts').slice(-MOST_ENTRIES);
  const typed = new Map<LifeEntry, Typed[]>();
  for (const entry of counted) {
    const words = await wordsOfMinute(daemon, entry);
    // A disk that does not answer would make each of them wait.
    if (words === null) break;
    const own = typedOf(entry, words);
    if (own.length === entry.count) typed.set(entry, own);
  }
  return typed;
}

/** The prompts of one entry among what was said in its minute; those of a worker's start are not typed. */
function typedOf({ at, count }: Prompts, words: Moment['words']): Typed[] {
  const minute = minuteOf(at);
  return words
    .filter((one) => one.who === 'person' && minuteOf(one.at) === minute && !isMachinePrompt(one.text, null))
    .slice(-count)
    .map((one) => ({ at: one.at, text: one.text }));
}

function minuteOf(at: number): number {
  return Math.floor(at / MINUTE_MS) * MINUTE_MS;
}

/** Null where the transcripts cannot be read now; nothing where this one is not here. */
async function wordsOfMinute(
  daemon: DaemonClient,
  { at, session }: Prompts,
): Promise<Moment['words'] | null> {
  if (session === null) return [];
  const half = MINUTE_MS / 2;
  const query = `session=${encodeURIComponent(session)}&at=${minuteOf(at) + half}&within_ms=${half}`;
  try {
    const { words, more } = await daemon.get(`/moment?${query}`, momentSchema);
    return more ? [] : words;
  } catch (error) {
    if (isCoded(error, 'transcript_missing')) return [];
    // A page without these words is better than none.
    if (isCoded(error)) return null;
    throw error;
  }
}
