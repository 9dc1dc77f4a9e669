import { z } from 'zod';
import { activitySchema } from '../contract/http/activity.ts';
import { commitsSchema } from '../contract/http/commits.ts';
import { sentFilesSchema } from '../contract/http/sent-files.ts';
import { sessionsSchema } from '../contract/http/sessions.ts';
import type { AskedRead } from '../contract/threads/fleet.ts';
import { parsedInPieces } from './parsed-in-pieces.ts';

export type FeedName = AskedRead['feed'];
export type Window = { from_ms: number; to_ms: number };

/** What a remote is asked for. Two questions with the same `path` are the same question. */
export type Question = {
  feed: FeedName;
  /** Below `/api/v1`, with its query. */
  path: string;
  /** The time that the answer tells of; null where it tells of all. */
  window: Window | null;
};

const HOUR_MS = 3_600_000;
/** The last moment that a query can name. */
const LAST_MS = 999_999_999_999_999;

/**
 * The question to each remote. A window is widened to whole hours: whoever moves one by a minute asks the same question for
 * an hour, so that the remote can answer 304 and its copies stay few. The answer says which window it has.
 */
export function questionOf(asked: AskedRead): Question {
  switch (asked.feed) {
    case 'activity': {
      const window = {
        from_ms: Math.floor(asked.from_ms / HOUR_MS) * HOUR_MS,
        to_ms: Math.min(Math.ceil(asked.to_ms / HOUR_MS) * HOUR_MS, LAST_MS),
      };
      return { feed: asked.feed, path: `/activity?from_ms=${window.from_ms}&to_ms=${window.to_ms}`, window };
    }
    case 'sessions': {
      const { uid } = asked;
      const query = uid === undefined ? '' : `?uid=${encodeURIComponent(uid.toWellFormed())}`;
      return { feed: asked.feed, path: `/sessions${query}`, window: null };
    }
    case 'commits':
      return { feed: asked.feed, path: '/commits', window: null };
    case 'state':
      return { feed: asked.feed, path: '/state', window: null };
    case 'sent-files':
      return { feed: asked.feed, path: '/sent-files/all', window: null };
  }
}

/** The copy that answers a question where its own is missing: the one that tells of most of its time, the newest first. */
export function nearestCopy<Copy extends { window: Window | null; last_ok_at: number }>(
  { window }: Pick<Question, 'window'>,
  copies: readonly Copy[],
): Copy | null {
  if (window === null) return null;
  let nearest: { copy: Copy; common: number } | null = null;
  for (const copy of copies) {
    const common = commonTime(window, copy.window);
    if (common <= 0) continue;
    const isNearer =
      nearest === null ||
      common > nearest.common ||
      (common === nearest.common && copy.last_ok_at > nearest.copy.last_ok_at);
    if (isNearer) nearest = { copy, common };
  }
  return nearest?.copy ?? null;
}

function commonTime(one: Window, other: Window | null): number {
  if (other === null) return 0;
  return Math.min(one.to_ms, other.to_ms) - Math.max(one.from_ms, other.from_ms);
}

const SHAPES = {
  activity: activitySchema,
  sessions: sessionsSchema,
  commits: commitsSchema,
  'sent-files': sentFilesSchema,
  // Daemons of other builds have more or less in it; whoever reads it has to look.
  state: z.looseObject({ host: z.string(), generated_at: z.number(), running: z.array(z.unknown()) }),
} satisfies Record<FeedName, z.ZodObject<{ host: z.ZodString }>>;

/**
 * What is wrong with the bytes of an answer: another host's, or not the read of the feed in UTF-8 that can stand inside other
 * JSON; null if nothing is.
 */
export async function faultOfRead(
  feed: FeedName,
  host: string,
  bytes: Uint8Array,
): Promise<'shape' | { host: string } | null> {
  const told = await parsedInPieces(SHAPES[feed], bytes);
  if (told === undefined) return 'shape';
  return told.host === host ? null : { host: told.host };
}
