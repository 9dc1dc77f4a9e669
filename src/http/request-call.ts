import type { RemoteAddress } from '../contract/remote-address.ts';
import type { Exchange } from './exchange.ts';
import type { BudgetShare } from './memory-budget.ts';
import type { RequestHead } from './request-head.ts';
import type { Row } from './row.ts';

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
