import {
  LIVE_LEDGERS,
  type LiveFeed,
  type LiveMessage,
  type LiveQuery,
  liveMessageSchema,
  liveQuerySchema,
} from '../contract/http/live.ts';
import type { LedgerStamps } from '../contract/ledger-tags.ts';
import { BudgetShare, MemoryBudget } from '../http/memory-budget.ts';
import { defineSocketRow, type Row } from '../http/row.ts';
import type { Socket, SocketHandler } from '../http/socket.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import type { FeedCache, FeedMove } from './feed-cache.ts';
import { tagOf } from './feed-window.ts';
import type { RemoteFeeds } from './remote-feeds.ts';

/** Clients that may be connected at one time. */
const MOST_CLIENTS = 256;
/** Bytes that may wait for one client; what comes above it is replaced by `whole` once the client has read. */
const QUEUE_BYTES = 1024 * 1024;
/** Bytes that may wait for all clients together; above it, one is told to read the feed again, as above its own. */
const ALL_QUEUES_BYTES = 32 * 1024 * 1024;
/** Messages are handed out for so many milliseconds before other work has its turn. */
const DELIVERY_MS = 2;
/** Milliseconds between the messages that tell a client that asked for it that the daemon lives. */
const ALIVE_EVERY_MS = 1_000;
/** Milliseconds in which the changes of a ledger become one message. */
const HINT_EVERY_MS = 100;

/** `GET /live`: a WebSocket that tells what changed in the feed, and when a ledger can be read again. */
export function liveRows(
  { ledgers, poller }: Pick<Callers, 'ledgers' | 'poller'>,
  feed: Pick<FeedCache, 'current' | 'onDelta'>,
  remotes: Pick<RemoteFeeds, 'tag' | 'onChanged'>,
  context: Pick<RouteContext, 'host' | 'clock'>,
): Row[] {
  const clients = new Set<Client>();
  const budget = new MemoryBudget(ALL_QUEUES_BYTES);
  const waiting: { feed: LiveFeed; bytes: Uint8Array; to: Client[] }[] = [];
  let later = false;
  const handOut = () => {
    const until = performance.now() + DELIVERY_MS;
    later = false;
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const { feed, bytes, to } = next;
      for (let client = to.pop(); client !== undefined; client = to.pop()) {
        if (clients.has(client)) client.deliver(feed, bytes);
        if (performance.now() <= until) continue;
        later = true;
        setImmediate(handOut);
        return;
      }
      waiting.shift();
    }
  };
  const deliver = (feed: LiveFeed, bytes: Uint8Array, to = [...clients]) => {
    waiting.push({ feed, bytes, to });
    if (!later) handOut();
  };
  followLedgers(ledgers, context, (message) => {
    if (clients.size > 0) deliver(message.feed, encode(message));
  });
  followRemotes(remotes, context, (message) => {
    if (clients.size > 0) deliver(message.feed, encode(message));
  });
  const tellState = () => {
    if (clients.size > 0) deliver('state', encode({ feed: 'state', origin: context.host }));
  };
  poller.onEvent('brake_changed', tellState);
  poller.onEvent('data_dir_changed', tellState);
  const tagNow = (): Uint8Array => {
    const etag = feed.current(false)?.etag;
    return encode({ feed: 'fibers', tag: etag === undefined ? null : tagOf(etag) });
  };
  const follow = (): (() => void) => {
    const unfollowFeed = feed.onDelta('all', (move) => deliver('fibers', encodeMove(move)));
    const endSigns = context.clock.every(ALIVE_EVERY_MS, () => {
      const to = [...clients].filter(({ alive }) => alive);
      if (to.length > 0) deliver('fibers', tagNow(), to);
    });
    return () => {
      unfollowFeed();
      endSigns();
    };
  };
  let unfollow: (() => void) | null = null;
  const leave = (client: Client) => {
    clients.delete(client);
    if (clients.size > 0) return;
    unfollow?.();
    unfollow = null;
  };
  return [
    defineSocketRow({
      path: '/api/v1/live',
      summary: 'Tells when the feed or a ledger changed, as it happens',
      page: 'live.md',
      routing: 'local',
      state: 'ready',
      query: liveQuerySchema,
      socket: {
        sends: liveMessageSchema,
        takes: null,
        most: MOST_CLIENTS,
        unsent_bytes: 2 * QUEUE_BYTES,
        open(socket, { query }) {
          const { alive = false } = query as LiveQuery;
          const client = new Client(socket, alive, budget, () => leave(client));
          clients.add(client);
          unfollow ??= follow();
          client.deliver('fibers', tagNow());
          return client;
        },
      },
    }),
  ];
}

/** One reader, which is told to read a feed again where it was too slow for a message of it. */
class Client implements SocketHandler {
  /** Whether it is told the tag of the feed every second. */
  readonly alive: boolean;
  readonly #socket: Socket;
  readonly #left: () => void;
  readonly #behind = new Set<LiveFeed>();
  /** What waits for it, of the budget of all clients. */
  readonly #share: BudgetShare;

  constructor(socket: Socket, alive: boolean, budget: MemoryBudget, left: () => void) {
    this.alive = alive;
    this.#socket = socket;
    this.#share = new BudgetShare(budget);
    this.#left = left;
  }

  deliver(feed: LiveFeed, message: Uint8Array): void {
    if (this.#behind.has(feed)) return;
    const { unsent } = this.#socket;
    this.#share.release();
    const bytes = unsent + message.length;
    if (bytes <= QUEUE_BYTES && this.#share.growTo(bytes)) this.#socket.send(message);
    else if (unsent === 0) this.#socket.send(encode({ feed, whole: true }));
    else this.#behind.add(feed);
    this.#share.release();
    this.#share.growTo(this.#socket.unsent);
  }

  drained(): void {
    for (const feed of this.#behind) this.#socket.send(encode({ feed, whole: true }));
    this.#behind.clear();
    this.#share.release();
  }

  closed(): void {
    this.#share.release();
    this.#left();
  }
}

/** Tells each ledger that changed, the changes of a short while together. */
function followLedgers(
  ledgers: Callers['ledgers'],
  { host: origin, clock }: Pick<RouteContext, 'host' | 'clock'>,
  tell: (message: LiveMessage) => void,
): void {
  const seq = { events: 0, sessions: 0, commits: 0 };
  let last: LedgerStamps | null = null;
  let told = { ...seq };
  let due = false;
  ledgers.onEvent('ledgers_changed', (stamps) => {
    // The first stamps are what there was, and no change.
    for (const ledger of LIVE_LEDGERS) if (last !== null && last[ledger] !== stamps[ledger]) seq[ledger] += 1;
    last = stamps;
    if (due) return;
    due = true;
    clock.after(HINT_EVERY_MS, () => {
      due = false;
      for (const feed of LIVE_LEDGERS) if (seq[feed] !== told[feed]) tell({ feed, origin, seq: seq[feed] });
      told = { ...seq };
    });
  });
}

/** Tells that the copies of other hosts changed, the changes of a short while together. */
function followRemotes(
  remotes: Pick<RemoteFeeds, 'tag' | 'onChanged'>,
  { clock }: Pick<RouteContext, 'clock'>,
  tell: (message: LiveMessage & { feed: LiveFeed }) => void,
): void {
  let due = false;
  remotes.onChanged(() => {
    if (due) return;
    due = true;
    clock.after(HINT_EVERY_MS, () => {
      due = false;
      tell({ feed: 'remotes', tag: remotes.tag });
    });
  });
}

function encode(message: LiveMessage): Uint8Array {
  return Buffer.from(JSON.stringify(message));
}

/** What changed, where it is known, in the bytes that it was encoded to already; else the tag alone. */
function encodeMove({ since, tag, delta }: FeedMove): Uint8Array {
  if (since === null || delta === null) return encode({ feed: 'fibers', tag });
  const head = JSON.stringify({ feed: 'fibers', since });
  return Buffer.concat([Buffer.from(`${head.slice(0, -1)},`), delta.subarray(1)]);
}
