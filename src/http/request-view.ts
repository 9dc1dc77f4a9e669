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
