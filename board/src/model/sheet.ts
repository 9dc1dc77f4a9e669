import type { FeedCopy } from './feed-copy.ts';
import type { FiberRow } from './wire.ts';

/**
 * The row of a fiber of a host, of the one that answers for null, by its id or its uid; of two documents with one id the
 * one that is listed first. A uid that this host does not have finds the fiber of another one.
 */
export function rowOf(
  copy: FeedCopy | null,
  reference: string,
  origin: string | null = null,
): FiberRow | undefined {
  if (copy === null) return undefined;
  let by_uid: FiberRow | undefined;
  for (const row of copy.rows.values()) {
    const meant = row.origin === (origin ?? copy.host);
    if (meant && row.id === reference) return row;
    if (row.uid === reference && (meant || by_uid === undefined)) by_uid = row;
  }
  return by_uid;
}

/**
 * Whether a document that was read is another one than the feed lists: with another digest, or none any more (null).
 * A feed that has not been read yet (undefined) says nothing.
 */
export function isOutdated(
  document: Pick<FiberRow, 'digest'> | undefined,
  listed_digest: string | null | undefined,
): boolean {
  return document !== undefined && listed_digest !== undefined && listed_digest !== document.digest;
}

/** What the daemon takes a fiber by: its uid, which stays when the fiber is moved or has the id of another one. */
export function referenceOf({ uid, id }: Pick<FiberRow, 'uid' | 'id'>): string {
  return uid ?? id;
}
