import type { RemoteAddress } from '../contract/remote-address.ts';
import type { Exchange } from './exchange.ts';
import type { BudgetShare } from './memory-budget.ts';
import type { RequestHead } from './request-head.ts';
import type { RequestView } from './request-view.ts';
import type { Row } from './row.ts';
import type { Sharer } from './shared-reads.ts';

/** A request on its way through the ladder of checks. */
export type Call = {
  exchange: Exchange;
  head: RequestHead;
  started_at: number;
  row: Row | null;
  /** The hosts that passed it on. */
  hops: readonly string[];
  /** The other host that it is for, where its row answers for that one; else null. */
  remote: string | null;
  /** The other host that it is passed on to; null where it is answered here. */
  forward: { host: string; address: RemoteAddress; silent?: AbortSignal | undefined } | null;
  /** True once a turn has passed since everything of the request had come. */
  waited: boolean;
  /** True once its handler has been called. */
  handling: boolean;
  /** What its body holds of the budget for bodies; null for a short one. */
  body_share: BudgetShare | null;
};

const NO_HEADERS: RequestView['headers'] = Object.freeze({});

/** A call as one of those who share an answer. */
export class SharingCall implements Sharer {
  readonly call: Call;

  constructor(call: Call) {
    this.call = call;
  }

  get open(): boolean {
    return this.call.exchange.open;
  }

  get signal(): AbortSignal {
    return this.call.exchange.signal;
  }
}

/** What the handler of one request sees of it. */
export class View implements RequestView {
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
  #call: Call;

  constructor(call: Call, params: Readonly<Record<string, string>>, query: unknown, body: unknown) {
    this.#call = call;
    this.params = params;
    this.query = query;
    this.body = body;
  }

  get id(): string {
    return this.#call.exchange.id;
  }

  get headers(): Readonly<Record<string, string | undefined>> {
    return this.#call.head.headers;
  }

  get signal(): AbortSignal {
    return this.#call.exchange.signal;
  }
}

/** What a handler sees whose answer several requests share: nothing that only one of them said. */
export function sharedView(
  shared: { first: SharingCall; readonly signal: AbortSignal },
  params: Readonly<Record<string, string>>,
  query: unknown,
): RequestView {
  const { id } = shared.first.call.exchange;
  return {
    ...{ id, params, query, body: undefined, headers: NO_HEADERS },
    get signal() {
      return shared.signal;
    },
  };
}
