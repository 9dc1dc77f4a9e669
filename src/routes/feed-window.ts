import type { FeedState } from '../contract/http/fibers.ts';
import type { FeedChanges, FeedNotice } from '../contract/threads/poller.ts';

/** What changed lately; a tag from before it is asked of the poller. */
const MOST_CHANGES = 1_000;
/** Notices that are kept; one of a state that changed has no rows. */
const MOST_MOVES = 1_000;
const MOST_BYTES = 4 * 1024 * 1024;

export type FeedVariant = 'all' | 'svc';

/** What changed in one variant of the feed from one tag to another. */
export type FeedDelta = {
  /** The entity tag to which it leads. */
  etag: string;
  state: FeedState;
  generated_at: number;
  /** Encoded rows that came or changed. */
  rows: Uint8Array[];
  /** Paths of rows that left the variant. */
  removed: string[];
};

type Change = { path: string; row: Uint8Array | null; own: boolean; was_own: boolean };
type Move = { since: FeedNotice['since']; to: FeedChanges; changes: Change[]; bytes: number };

/** The latest changes of the feed, as the notices of the poller told them. */
export class FeedWindow {
  #moves: Move[] = [];
  #changes = 0;
  #bytes = 0;

  /** The next notice with its encoded rows. What was kept ends with one that does not follow it, or tells no rows. */
  push(notice: FeedNotice, bytes: Uint8Array | null): void {
    const told = changesOf(notice, bytes);
    if (told === null || this.#moves.at(-1)?.to.etags.all !== notice.since.all) this.clear();
    const move = {
      since: told === null ? { all: null, svc: null } : notice.since,
      to: notice,
      changes: told ?? [],
      bytes: bytes?.byteLength ?? 0,
    };
    this.#moves.push(move);
    this.#changes += move.changes.length;
    this.#bytes += move.bytes;
    while (this.#moves.length > MOST_MOVES || this.#changes > MOST_CHANGES || this.#bytes > MOST_BYTES) {
      const oldest = this.#moves.shift()!;
      this.#changes -= oldest.changes.length;
      this.#bytes -= oldest.bytes;
    }
  }

  clear(): void {
    this.#moves = [];
    this.#changes = 0;
    this.#bytes = 0;
  }

  /** What changed in a variant after an entity tag of it; null where that is not known here. */
  since(etag: string, variant: FeedVariant): FeedDelta | null {
    const last = this.#moves.at(-1);
    if (last === undefined || last.to.etags[variant] === null) return null;
    const from = this.#moves.findIndex((move) => move.since[variant] === etag);
    if (from >= 0) return deltaOf(this.#moves.slice(from), variant);
    return last.to.etags[variant] === etag ? deltaOf([{ ...last, changes: [] }], variant) : null;
  }
}

/** What the poller answered to `feed_changes`; null where the whole feed has to be read. */
export function answeredDelta(
  answer: FeedChanges,
  bytes: Uint8Array | null,
  variant: FeedVariant,
): FeedDelta | null {
  const changes = changesOf(answer, bytes);
  return changes === null ? null : deltaOf([{ to: answer, changes }], variant);
}

/** The body of `GET /fibers?since=` for a delta. */
export function encodeDelta(host: string, delta: FeedDelta): Uint8Array {
  const { etag, state, generated_at, rows, removed } = delta;
  const head = JSON.stringify({ host, state, generated_at, tag: tagOf(etag), removed });
  const pieces: Uint8Array[] = [Buffer.from(`${head.slice(0, -1)},"rows":[`)];
  for (const row of rows) {
    if (pieces.length > 1) pieces.push(COMMA);
    pieces.push(row);
  }
  return Buffer.concat([...pieces, END]);
}

const COMMA = Buffer.from(',');
const END = Buffer.from(']}');

/** An entity tag without its quotes. */
export function tagOf(etag: string): string {
  return etag.slice(1, -1);
}

export function weakTag(etag: string): string {
  return `W/${etag}`;
}

/** The entity tag of a text that names one, as `ETag` has it or without quotes. */
export function etagOf(text: string): string {
  return `"${unquoted(text)}"`;
}

/** A tag as a client may name it, without the quotes of an `ETag`. */
export function unquoted(text: string): string {
  return text.replace(/^W\//, '').replace(/^"(.*)"$/, '$1');
}

function changesOf({ changes }: FeedChanges, bytes: Uint8Array | null): Change[] | null {
  if (changes === null) return null;
  let at = 0;
  return changes.map(({ bytes: length, ...change }) => {
    if (length === null) return { ...change, row: null };
    at += length;
    return { ...change, row: bytes!.subarray(at - length, at) };
  });
}

function deltaOf(moves: Pick<Move, 'to' | 'changes'>[], variant: FeedVariant): FeedDelta | null {
  const { etags, state, generated_at } = moves.at(-1)!.to;
  const etag = etags[variant];
  if (etag === null) return null;
  const latest = new Map<string, Uint8Array | null>();
  for (const { path, row, own, was_own } of moves.flatMap((move) => move.changes)) {
    if (variant === 'all' || own) latest.set(path, row);
    else if (was_own) latest.set(path, null);
  }
  const rows = [...latest.values()].filter((row) => row !== null);
  const removed = [...latest].flatMap(([path, row]) => (row === null ? [path] : []));
  return { etag, state, generated_at: generated_at[variant], rows, removed };
}
