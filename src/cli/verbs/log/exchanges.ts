import { isCoded } from '../../../base/errors.ts';
import type { LifeEntry } from '../../../contract/http/life.ts';
import { type Moment, momentSchema, type Words } from '../../../contract/http/moment.ts';
import { looksLikeAddress } from '../../../contract/session-address.ts';
import { isMachinePrompt } from '../../../harness/hooks/machine-prompts.ts';
import type { DaemonClient } from '../../daemon-client/client.ts';

const MINUTE_MS = 60_000;
/** Most entries whose words are looked up: each one is a request, which reads a part of a transcript. */
const MOST_ENTRIES = 20;
/** A question further from the end of what was said does not wait for an answer. */
const MOST_AFTER_QUESTION = 400;

/** Something said in a session, at a time in milliseconds. */
type Line = { at: number; text: string };
/** What a person wrote to a session, and the question before it. `text` is null where the entry itself tells of it. */
export type Exchange = { at: number; text: string | null; asked: Line | null };

/** An entry of something that a person wrote, when, and into which session. */
type Written = { entry: LifeEntry; at: number; session: string };

/**
 * What people wrote and what they were asked before, of the newest entries that tell of it: the ledgers keep no text, so
 * that it is read from the transcripts of this host. An entry is missing where its transcript is, where that tells
 * another number of prompts, and where it would tell nothing more than the entry.
 */
export async function exchangesOf(
  daemon: DaemonClient,
  entries: readonly LifeEntry[],
): Promise<Map<LifeEntry, Exchange[]>> {
  const exchanges = new Map<LifeEntry, Exchange[]>();
  for (const written of entries.flatMap(writtenIn).slice(-MOST_ENTRIES)) {
    const moment = await momentOf(daemon, written);
    // A disk that does not answer would make each of them wait.
    if (moment === 'unreadable') break;
    const own = moment === null ? [] : exchangesIn(written, moment);
    if (own.length > 0) exchanges.set(written.entry, own);
  }
  return exchanges;
}

function writtenIn(entry: LifeEntry): Written[] {
  const { kind, at, session } = entry;
  if (session === null) return [];
  const by_message = kind === 'message' && entry.direction === 'received' && !looksLikeAddress(entry.from);
  return kind === 'prompts' || by_message ? [{ entry, at, session }] : [];
}

function exchangesIn({ entry, at }: Written, { words, said_before }: Moment): Exchange[] {
  const said = said_before === null ? words : [said_before, ...words];
  if (entry.kind !== 'prompts') {
    const asked = questionAt(said, said.filter((one) => one.at < at).length);
    return asked === null ? [] : [{ at, text: null, asked }];
  }
  const minute = minuteOf(at);
  const typed = said
    .map((one, place): Exchange & { text: string; own: boolean } => ({
      ...{ at: one.at, text: one.text, asked: questionAt(said, place) },
      own: one.who === 'person' && minuteOf(one.at) === minute && !isMachinePrompt(one.text, null),
    }))
    .filter(({ own }) => own)
    .slice(-entry.count);
  if (typed.length !== entry.count) return [];
  return typed.map(({ own, ...exchange }) => exchange);
}

/** The question that the agent had asked before this place, if a person had not spoken since. */
function questionAt(said: readonly Words[], place: number): Line | null {
  const before = said
    .slice(0, place)
    .findLast(({ who, tool }) => who === 'person' || (who === 'agent' && tool === null));
  if (before?.who !== 'agent') return null;
  const text = questionIn(before.text);
  return text === null ? null : { at: before.at, text };
}

/** The last question of a text, in one sentence; null for a text that does not end with one. */
export function questionIn(text: string): string | null {
  const end = text.search(/[?？؟](?=[^?？؟]*$)/u);
  if (end < 0 || text.length - end > MOST_AFTER_QUESTION) return null;
  const before = text.slice(0, end);
  const start = Math.max(
    ...[...before.matchAll(/[.!?？؟:]\s+|\n+(?!\p{Ll})/gu)].map((cut) => cut.index + cut[0].length),
    0,
  );
  const question = text
    .slice(start, end + 1)
    .replace(/\s+/g, ' ')
    .trim();
  return question.length < 3 ? null : question;
}

function minuteOf(at: number): number {
  return Math.floor(at / MINUTE_MS) * MINUTE_MS;
}

/** What was said in the minute; null where the transcript is not here, `unreadable` where none can be read now. */
async function momentOf(
  daemon: DaemonClient,
  { at, session }: Written,
): Promise<Moment | null | 'unreadable'> {
  const half = MINUTE_MS / 2;
  const query = `session=${encodeURIComponent(session)}&at=${minuteOf(at) + half}&within_ms=${half}`;
  try {
    const moment = await daemon.get(`/moment?${query}`, momentSchema);
    return moment.more ? null : moment;
  } catch (error) {
    if (isCoded(error, 'transcript_missing')) return null;
    // A page without these words is better than none.
    if (isCoded(error)) return 'unreadable';
    throw error;
  }
}
