import type { z } from 'zod';
import { refusal } from './error-reply.ts';
import type { Reply } from './reply.ts';
import type { RequestView } from './request-view.ts';
import type { Routing } from './routing.ts';
import type { SocketRow } from './socket.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** `text` and `content` stand for bodies that are not JSON. */
export type ReplySchema = z.ZodType | 'text' | 'content' | 'empty' | TextOrJson;
/** Text, or JSON of this shape. */
type TextOrJson = { text_or: z.ZodType };

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
  /** True where the query is of a page, and is read as a browser reads it: no form of it is refused. */
  page_query?: boolean;
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
  /**
   * True where the answer of another host has to be one of `replies`, or a refusal: it is read whole before it goes on, and
   * anything else is answered with 502 `answer_unreadable`.
   */
  checks_answer?: boolean;
  /** True where a request that names a `message_id` takes effect once, however often it is sent. */
  once_by_id?: boolean;
  /** False: never sent in gzip or br. JSON of more than 1 KiB is, where the client takes it. */
  compress?: boolean;
  /**
   * True for a read whose handler works on something else than memory: requests of the same path and query that wait at
   * the same time share one answer, computed after the last of them came. The handler sees no headers then, and the
   * signal is that of all who share. False where an answer is at hand at once, which sharing would only delay, where a
   * header decides what is read, and for what is waited for rather than read. Never true where a request has an effect.
   */
  shared?: boolean;
  /** True for the files of the board: a browser may use no other answer as a script or a style sheet. */
  runs?: boolean;
  /** True for bytes that somebody else wrote: a browser shows them in an origin of their own, without scripts. */
  sandbox?: boolean;
  /** Shape of each answer that is not an error, by status. */
  replies: Readonly<Record<number, ReplySchema>>;
  /** What a request of this row can be upgraded to; see `defineSocketRow`. */
  socket?: SocketRow;
  /** May answer at once or later; an answer given at once costs no turn of the event loop. */
  handler(request: RequestView): Reply | Promise<Reply>;
  /**
   * Answers a request that came before under its id, which its caller gave in `message_id` or in the header
   * `Idempotency-Key`. `first` is the answer that it had; null where it is not known whether it was carried out. Without it,
   * `first` is the answer, and what is not known is not done again.
   */
  repeated?(request: RequestView, first: Reply | null): Reply | Promise<Reply>;
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
  row: Omit<Row, 'query' | 'body' | 'handler' | 'repeated' | 'remote'> & {
    query?: Q;
    body?: B;
    handler(request: RequestOf<Q, B>): Reply | Promise<Reply>;
    repeated?(request: RequestOf<Q, B>, first: Reply | null): Reply | Promise<Reply>;
    remote?(request: RequestOf<Q, B>, host: string, hops: readonly string[]): Reply | Promise<Reply>;
  },
): Row {
  return row as Row;
}

/** A row whose requests become WebSockets; one without an `Upgrade` header is answered 426. */
export function defineSocketRow(
  row: Omit<Row, 'method' | 'body_limit' | 'replies' | 'handler'> & { socket: SocketRow },
): Row {
  return {
    ...row,
    method: 'GET',
    body_limit: 0,
    shared: false,
    replies: { 101: 'empty' },
    handler() {
      throw refusal(
        'upgrade_required',
        `${row.path} is a WebSocket; connect with a WebSocket client, which sends Upgrade: websocket.`,
      );
    },
  };
}
