import type { Pieces } from './pieces.ts';

type ReplyHead = {
  status: number;
  /** Entity tag with its quotes; a GET whose `If-None-Match` names it, compared weakly, is answered 304. */
  etag?: string | null;
  headers?: Readonly<Record<string, string>>;
};

/** Bytes that are read while they are sent. */
export type Content = {
  size: number;
  /**
   * The bytes from `from` up to `end`, in order and no more than are asked for. Called again for a part of them where
   * a slow client has made the server let go of what it had read. A piece is lent until the next one is asked for, so that its buffer may be used
   * again. What it throws, or an early end, closes the connection, for the length has been promised by then. When the
   * client goes away its `return` is called.
   */
  read(from: number, end: number): AsyncIterable<Uint8Array>;
  /** All of the bytes where they are in memory when the answer goes out, which then needs no reading; else null. */
  held?(): Uint8Array | null;
};

/**
 * An answer: a value to encode, finished bytes, whole or in pieces, content (of which a GET may ask for a range), an
 * open-ended stream, what another host answers, or no body at all.
 */
export type Reply =
  | (ReplyHead & { json: unknown })
  | (ReplyHead & { bytes: Uint8Array; content_type: string })
  | (ReplyHead & { pieces: Pieces; content_type: string })
  | (ReplyHead & { content: Content; content_type: string; last_modified?: number })
  /**
   * Sent in chunks as the source brings them and no faster than the client takes them; the head goes out with the first
   * one. A chunk is lent until the next one is asked for. The source is told to end by `return` and by the signal of the
   * request: when the client goes away, takes nothing for too long, or the daemon stops. What it throws closes the connection.
   */
  | (ReplyHead & { stream: AsyncIterable<Uint8Array>; content_type: string })
  /** The answer of another host: sent as it comes, and a connection that closes where it ends early. */
  | (ReplyHead & { relayed: AsyncIterable<Uint8Array>; size: number | null })
  | (ReplyHead & { empty: true });
