import { LIVE_LEDGERS, type LiveFeed, type LiveMessage, liveMessageSchema } from '../contract/http/live.ts';
import type { LedgerStamps } from '../contract/ledger-tags.ts';
import type { Row } from '../http/row.ts';
import { defineSocketRow, type Socket, type SocketHandler } from '../http/socket.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import type { FeedCache, FeedMove } from './feed-cache.ts';
import { tagOf } from './feed-window.ts';

/** Clients that may be connected at one time. */
const MOST_CLIENTS = 256;
/** Bytes that may wait for one client; what comes above it is replaced by `whole` once the client has read. */
const QUEUE_BYTES = 1024 * 1024;
/** Milliseconds in which the changes of a ledger become one message. */
const HINT_EVERY_MS = 100;

/** `GET /live`: a WebSocket that tells what changed in the feed, and when a ledger can be read again. */
export function liveRows(
  { ledgers }: Pick<Callers, 'ledgers'>,
  feed: Pick<FeedCache, 'current' | 'onDelta'>,
  context: Pick<RouteContext, 'host' | 'clock'>,
): Row[] {
  const clients = new Set<Client>();
  const deliver = (feed: LiveFeed, bytes: Uint8Array) => {
    for (const client of clients) client.deliver(feed, bytes);
  };
  followLedgers(ledgers, context, (message) => {
    if (clients.size > 0) deliver(message.feed, encode(message));
  });
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
      socket: {
        sends: liveMessageSchema,
        takes: null,
        most: MOST_CLIENTS,
        unsent_bytes: 2 * QUEUE_BYTES,
        open(socket) {
          const client = new Client(socket, () => leave(client));
          clients.add(client);
          unfollow ??= feed.onDelta('all', (move) => deliver('fibers', encodeMove(move)));
          const etag = feed.current(false)?.etag;
          client.deliver('fibers', encode({ feed: 'fibers', tag: etag === undefined ? null : tagOf(etag) }));
          return client;
        },
      },
    }),
  ];
}

/** One reader, which is told to read a feed again where it was too slow for a message of it. */
class Client implements SocketHandler {
  readonly #socket: Socket;
  readonly #left: () => void;
  readonly #behind = new Set<LiveFeed>();

  constructor(socket: Socket, left: () => void) {
    this.#socket = socket;
    this.#left = left;
  }

  deliver(feed: LiveFeed, message: Uint8Array): void {
    if (this.#behind.has(feed)) return;
    const { unsent } = this.#socket;
    if (unsent + message.length <= QUEUE_BYTES) this.#socket.send(message);
    else if (unsent === 0) this.#socket.send(encode({ feed, whole: true }));
    else this.#behind.add(feed);
  }

  drained(): void {
    for (const feed of this.#behind) this.#socket.send(encode({ feed, whole: true }));
    this.#behind.clear();
  }

  closed(): void {
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

function encode(message: LiveMessage): Uint8Array {
  return Buffer.from(JSON.stringify(message));
}

/** What changed, where it is known, in the bytes that it was encoded to already; else the tag alone. */
function encodeMove({ since, tag, delta }: FeedMove): Uint8Array {
  if (since === null || delta === null) return encode({ feed: 'fibers', tag });
  const head = JSON.stringify({ feed: 'fibers', since });
  return Buffer.concat([Buffer.from(`${head.slice(0, -1)},`), delta.subarray(1)]);
}
