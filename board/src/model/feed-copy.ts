import type { FiberRow, FibersDelta, FibersWhole, LiveMessage } from './wire.ts';

/** The copy of a daemon's feed as it was at one tag. */
export type FeedCopy = {
  host: string;
  state: FibersWhole['state'];
  /** Names this copy in `GET /fibers?since=`; null while the feed is cold. */
  tag: string | null;
  /** By path: two documents can claim one id. */
  rows: ReadonlyMap<string, FiberRow>;
};

/**
 * The copy after an answer to `GET /fibers?since=`. Rows that did not change stay the same objects. A daemon that has
 * not listed its stores yet knows less than the copy, whose rows are kept.
 */
export function applyAnswer(copy: FeedCopy | null, answer: FibersWhole | FibersDelta): FeedCopy {
  const { host, state, tag } = answer;
  if (state === 'cold' && copy?.host === host) return { ...copy, state, tag };
  if ('whole' in answer)
    return { host, state, tag, rows: new Map(answer.fibers.map((row) => [row.path, row])) };
  if (answer.rows.length === 0 && answer.removed.length === 0 && copy !== null)
    return { host, state, tag, rows: copy.rows };
  const rows = new Map(copy?.rows);
  for (const path of answer.removed) rows.delete(path);
  for (const row of answer.rows) rows.set(row.path, row);
  return { host, state, tag, rows };
}

/**
 * What a message of `GET /live` means for the copy: the copy after it, that nothing changed (`same`), or that
 * `GET /fibers?since=` has to be asked (`read`).
 */
export function applyMessage(copy: FeedCopy, message: LiveMessage): FeedCopy | 'same' | 'read' {
  if (message.feed !== 'fibers') return 'same';
  if ('rows' in message) return message.since === copy.tag ? applyAnswer(copy, message) : 'read';
  return 'tag' in message && message.tag === copy.tag ? 'same' : 'read';
}
