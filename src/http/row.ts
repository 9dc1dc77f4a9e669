import type { z } from 'zod';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A request as a handler sees it: plain copies, valid for as long as the handler likes. */
export type RequestView<Q = unknown, B = unknown> = {
  /** Also in the `X-Request-Id` header of the answer and in the log. */
  readonly id: string;
  /** What the `:name` and `*name` parts of the row's path stood for, percent-decoded once. */
  readonly params: Readonly<Record<string, string>>;
  /** Output of the row's `query` schema; undefined where the row has none. */
  readonly query: Q;
  /** Output of the row's `body` schema; undefined where the row has none. */
  readonly body: B;
  /** Names in lower case; repeated headers joined with a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Aborted when the client goes away before the answer is complete. */
  readonly signal: AbortSignal;
};

type ReplyHead = {
  status: number;
  /** Strong entity tag with its quotes; a GET whose `If-None-Match` names it is answered 304. */
  etag?: string | null;
  headers?: Readonly<Record<string, string>>;
};

/** An answer: a value to encode, finished bytes, or no body at all. */
export type Reply =
  | (ReplyHead & { json: unknown })
  | (ReplyHead & { bytes: Uint8Array; content_type: string })
  | (ReplyHead & { empty: true });

/** `text` stands for a body that is not JSON. */
export type ReplySchema = z.ZodType | 'text' | 'empty' | TextOrJson;
/** Text, or JSON of this shape. */
export type TextOrJson = { text_or: z.ZodType };

/** One endpoint as data: everything the kernel enforces stands in the row. */
export type Row = {
  method: Method;
  /** Literal segments, `:name` for one segment, a last `*name` for one or more. */
  path: string;
  /** `operator`: whoever may operate this machine's daemon; decided by the access ladder. */
  who: 'operator';
  /** `ready`: answered with 503 `booting` until every component has started (RDY-1); `always`: exempt (RDY-3). */
  state: 'ready' | 'always';
  query?: z.ZodType;
  body?: z.ZodType;
  /** Bytes of a request body; more is answered with 413. */
  body_limit: number;
  /** Shape of each answer that is not an error, by status. */
  replies: Readonly<Record<number, ReplySchema>>;
  /** May answer at once or later; an answer given at once costs no turn of the event loop. */
  handler(request: RequestView): Reply | Promise<Reply>;
};

/** Checks a handler against the schemas of its own row. */
export function defineRow<Q extends z.ZodType, B extends z.ZodType>(
  row: Omit<Row, 'query' | 'body' | 'handler'> & {
    query?: Q;
    body?: B;
    handler(request: RequestView<z.output<Q>, z.output<B>>): Reply | Promise<Reply>;
  },
): Row {
  return row as Row;
}
