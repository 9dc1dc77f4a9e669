import { z } from 'zod';
import { flagSchema } from './bounded.ts';
import { fibersDeltaSchema } from './fibers.ts';

/** The ledgers of a host, as `GET /live` names them. */
export const LIVE_LEDGERS = ['events', 'sessions', 'commits'] as const;
type LiveLedger = (typeof LIVE_LEDGERS)[number];
export type LiveFeed = 'fibers' | 'remotes' | 'state' | LiveLedger;

/** The query of `GET /live`. */
export const liveQuerySchema = z.object({
  /** True for a client that wants the tag of the feed every second, so that it notices a daemon that hangs. */
  alive: flagSchema.optional(),
});
export type LiveQuery = z.infer<typeof liveQuerySchema>;

/** One message of `GET /live`. */
export const liveMessageSchema = z.union([
  /** The changes of the feed after the tag `since`, as `GET /fibers?since=` answers them. */
  fibersDeltaSchema.extend({ feed: z.literal('fibers'), since: z.string() }),
  /** The new tag of `GET /fibers`, without quotes; null while the feed is cold or its thread is down. */
  z.object({ feed: z.literal('fibers'), tag: z.string().nullable() }),
  /** A ledger of that host changed; `seq` counts its changes since the daemon started. */
  z.object({ feed: z.enum(LIVE_LEDGERS), origin: z.string(), seq: z.number().int() }),
  /**
   * The rows of another host changed, or how fresh they are: `GET /fibers/composite?since=` tells what. `tag` is the part
   * after the `~` of its tag; null without a remote, or while nobody can tell of them.
   */
  z.object({ feed: z.literal('remotes'), tag: z.string().nullable() }),
  /** The emergency brake of that host or the fault of its data folder changed: `GET /state` tells how. */
  z.object({ feed: z.literal('state'), origin: z.string() }),
  /** The client was too slow, and messages of this feed were dropped: read the feed again. */
  z.object({ feed: z.enum(['fibers', 'remotes', 'state', ...LIVE_LEDGERS]), whole: z.literal(true) }),
]);
export type LiveMessage = z.infer<typeof liveMessageSchema>;
