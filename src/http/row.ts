import type { z } from 'zod';
import type { Pieces } from './pieces.ts';
import type { Routing } from './routing.ts';
import type { SocketRow } from './socket.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A request as a handler sees it: plain copies, valid for as long as the handler likes. */
export type RequestView<Q = unknown, B = unknown> = {
  /** Also in the `X-Request-Id` header of the answer and in the log. */
  readonly id: string;
  /** What the `:name` and `*name` parts of the row's path stood for, percent-decoded once. */
  readonly params: Readonly<Record<string, string>>;
  /** Output of the row's `query` schema; undefined where the row has none. */
  readonly query: Q;
  /** Output of the row's `body` schema, or the bytes as they came; undefined where the row has none. */
  readonly body: B;
  /** Names in lower case; repeated headers joined with a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Aborted when the client goes away before the answer is complete. */
  readonly signal: AbortSignal;
};

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

/** `text` and `content` stand for bodies that are not JSON. */
export type ReplySchema = z.ZodType | 'text' | 'content' | 'empty' | TextOrJson;
/** Text, or JSON of this shape. */
export type TextOrJson = { text_or: z.ZodType };

/** One endpoint as data: everything the kernel enforces stands in the row. */
export type Row = {
  method: Method;
  /** Literal segments, `:name` for one segment, a last `*name` for one or more. */
  path: string;
  /** What it is for: one line without a full stop, in Markdown. */
  summary: string;
  /** A request that can be typed: a query, a body as JSON, and what `:name` and `*name` of the path stand for. */
  example?: { params?: Record<string, string>; query?: string; body?: unknown };
  /** Answered with an error where no session has run, or where none has made a commit. */
  needs?: 'session' | 'commit';
  /** The group of endpoints that it is listed in. */
  group?: string;
  /** The page of `ops/` that tells more. */
  page?: string;
  /** Which daemon answers; decided before the body is checked against its schema. */
  routing: Routing;
  /**
   * The field of a body that names its host in another way where no `origin` does, and the host that its value means;
   * undefined where it means none. A name that matches no host is left to the handler.
   */
  addressed?: { field: string; hostIn(value: string): string | undefined };
  /**
   * True for an input that this daemon begins to carry out whichever host it names; its handler passes the rest of it on.
   */
  begins_here?(input: unknown): boolean;
  /** `ready`: answered with 503 `booting` until every component has started (RDY-1); `always`: exempt (RDY-3). */
  state: 'ready' | 'always';
  query?: z.ZodType;
  /** `bytes`: taken as it comes, whatever its type, over a buffer of its own. */
  body?: z.ZodType | 'bytes';
  /** What a body is where the handler takes it apart itself; for the description of the API alone. */
  described_body?: z.ZodType;
  /** Bytes of a request body; more is answered with 413. */
  body_limit: number;
  /** Milliseconds within which a body must have come whole, else 408; 30 s unless given. */
  body_timeout_ms?: number;
  /** Milliseconds within which the daemon of another host must begin its answer; 120 s unless given. */
  answer_ms?: number;
  /** False: never sent in gzip or br. JSON of more than 1 KiB is, where the client takes it. */
  compress?: boolean;
  /**
   * True for a read whose handler works on something else than memory: requests of the same path and query that wait at
   * the same time share one answer, computed after the last of them came. The handler sees no headers then, and the
   * signal is that of all who share. False where an answer is at hand at once, which sharing would only delay, where a
   * header decides what is read, and for what is waited for rather than read. Never true where a request has an effect.
   */
  shared?: boolean;
  /** True for bytes that somebody else wrote: a browser shows them in an origin of their own, without scripts. */
  sandbox?: boolean;
  /** Shape of each answer that is not an error, by status. */
  replies: Readonly<Record<number, ReplySchema>>;
  /** What a request of this row can be upgraded to; see `defineSocketRow`. */
  socket?: SocketRow;
  /** May answer at once or later; an answer given at once costs no turn of the event loop. */
  handler(request: RequestView): Reply | Promise<Reply>;
  /**
   * Answers a request for another host in place of `handler`; without it the daemon of that host is asked. `hops` are the
   * hosts that passed the request on.
   */
  remote?(request: RequestView, host: string, hops: readonly string[]): Reply | Promise<Reply>;
};

type RequestOf<Q extends z.ZodType, B extends z.ZodType | 'bytes'> = RequestView<
  z.output<Q>,
  B extends z.ZodType ? z.output<B> : Uint8Array
>;

/** Checks a handler against the schemas of its own row. */
export function defineRow<Q extends z.ZodType, B extends z.ZodType | 'bytes'>(
  row: Omit<Row, 'query' | 'body' | 'handler' | 'remote'> & {
    query?: Q;
    body?: B;
    handler(request: RequestOf<Q, B>): Reply | Promise<Reply>;
    remote?(request: RequestOf<Q, B>, host: string, hops: readonly string[]): Reply | Promise<Reply>;
  },
): Row {
  return row as Row;
}
