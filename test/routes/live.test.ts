import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { FakeClock } from '../../src/base/clock.ts';
import { type LiveMessage, type LiveQuery, liveMessageSchema } from '../../src/contract/http/live.ts';
import type { LedgerStamps } from '../../src/contract/ledger-tags.ts';
import type { Callers } from '../../src/routes/callers.ts';
import type { FeedCache, FeedMove } from '../../src/routes/feed-cache.ts';
import { liveRows } from '../../src/routes/live.ts';
import { ask } from '../http/raw-exchange.ts';
import { until } from '../kit/until.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
const clients: WebSocket[] = [];
beforeEach(async () => {
  served = await serveRoutes();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.terminate();
  await served.stop();
});

/** A client that is connected, and what it was told. */
async function connected(): Promise<{ client: WebSocket; told: LiveMessage[] }> {
  const client = new WebSocket(`ws://127.0.0.1:${served.port}/api/v1/live`);
  clients.push(client);
  const told: LiveMessage[] = [];
  client.on('message', (data, binary) => {
    expect(binary).toBe(false);
    told.push(liveMessageSchema.parse(JSON.parse(String(data))));
  });
  await once(client, 'open');
  await until('the first message', () => told.length > 0);
  return { client, told };
}

describe('GET /live', () => {
  it('sends the tag of the feed at once, and each later tag, to every client', async () => {
    const cold = await connected();
    expect(cold.told).toEqual([{ feed: 'fibers', tag: null }]);
    served.callers.poller.notify('"n-1"', '"n-1s"');
    await until('the change', () => cold.told.length === 2);
    const warm = await connected();
    expect(warm.told).toEqual([{ feed: 'fibers', tag: 'n-1' }]);
    served.callers.poller.notify('"n-2"', '"n-1s"');
    for (const { told } of [cold, warm]) {
      await until('the change', () => JSON.stringify(told.at(-1)) === '{"feed":"fibers","tag":"n-2"}');
    }
  });

  it('is not a plain request: it accepts an upgrade alone, and no message', async () => {
    const plain = await ask({ port: served.port }, 'GET', '/api/v1/live');
    expect([plain.status, JSON.parse(plain.body).error]).toEqual([426, 'upgrade_required']);
    const { client } = await connected();
    client.send('{}');
    expect((await once(client, 'close'))[0]).toBe(1008);
  });

  it('[RDY-1] waits for the daemon to be ready', async () => {
    served.become({ ready_ms: null });
    const client = new WebSocket(`ws://127.0.0.1:${served.port}/api/v1/live`);
    clients.push(client);
    const [error] = await once(client, 'error');
    expect(String(error)).toContain('503');
  });

  it('[AUT-3] is refused to a page of another origin', async () => {
    const client = new WebSocket(`ws://127.0.0.1:${served.port}/api/v1/live`, {
      origin: 'http://evil.example',
    });
    clients.push(client);
    const [error] = await once(client, 'error');
    expect(String(error)).toContain('403');
  });
});

/** The row with clients and components of a test, which tells them what it wants. */
function row() {
  const clock = new FakeClock();
  let hear: ((stamps: LedgerStamps) => void) | undefined;
  const ledgers = {
    onEvent(_event: string, hearer: typeof hear) {
      hear = hearer;
    },
  };
  let follow: ((move: FeedMove) => void) | null = null;
  const feed: Pick<FeedCache, 'current' | 'onDelta'> = {
    current: () => null,
    onDelta(_variant, follower) {
      follow = follower;
      return () => {
        follow = null;
      };
    },
  };
  let remotesChanged = () => {};
  const pollerTells = new Map<string, () => void>();
  const remotes = {
    tag: null as string | null,
    onChanged(follower: () => void) {
      remotesChanged = follower;
      return () => {};
    },
  };
  const poller = {
    onEvent(event: string, hear: () => void) {
      pollerTells.set(event, hear);
    },
  };
  const [live] = liveRows({ ledgers, poller } as unknown as Callers, feed, remotes, {
    host: 'host-a',
    clock,
  });
  const connect = (query: LiveQuery = {}) => {
    const sent: Uint8Array[] = [];
    const socket = {
      unsent: 0,
      send: (message: Uint8Array) => void sent.push(message),
      close: () => undefined,
    };
    const handler = live!.socket!.open(socket, { query } as never);
    sent.length = 0;
    return {
      socket,
      handler,
      sent,
      told: () => sent.map((bytes) => JSON.parse(String(bytes)) as LiveMessage),
    };
  };
  return {
    clock,
    connect,
    isFollowed: () => follow !== null,
    feed: (tag: string) => follow?.({ since: null, tag, delta: null }),
    change: (since: string, delta: object) =>
      follow?.({ since, tag: 't', delta: Buffer.from(JSON.stringify(delta)) }),
    remotes(tag: string | null) {
      remotes.tag = tag;
      remotesChanged();
    },
    poller: (event: string) => pollerTells.get(event)?.(),
    ledgers: (events: string, sessions = 's', commits = 'c', messages = 'm') =>
      hear?.({ events, sessions, commits, messages }),
  };
}

describe('a message to a client of GET /live', () => {
  it('is encoded once for all', () => {
    const { connect, feed } = row();
    const [first, second] = [connect(), connect()];
    feed('t');
    expect(first.sent[0]).toBe(second.sent[0]);
    expect(first.told()).toEqual([{ feed: 'fibers', tag: 't' }]);
  });

  it('tells the tag of the feed every second where the client asks for it, so that it notices a daemon that hangs', () => {
    const { clock, connect } = row();
    const { told, handler } = connect({ alive: true });
    const other = connect();
    clock.advance(3_000);
    expect(told()).toEqual(Array(3).fill({ feed: 'fibers', tag: null }));
    expect(other.sent).toEqual([]);
    other.handler.closed?.();
    handler.closed?.();
    clock.advance(3_000);
    expect(told()).toHaveLength(3);
  });

  it('about the feed is the changes after a tag, in the form of GET /fibers?since=', () => {
    const { connect, change } = row();
    const { told } = connect();
    const delta = {
      host: 'host-a',
      state: 'fresh',
      generated_at: 1,
      tag: 't',
      removed: ['/gone.md'],
      rows: [],
    };
    change('s', delta);
    expect(told()).toEqual([{ feed: 'fibers', since: 's', ...delta }]);
    expect(liveMessageSchema.parse(told()[0])).toEqual(told()[0]);
  });

  it.each(['brake_changed', 'data_dir_changed'])('tells at once that the state changed, with %s', (event) => {
    const { connect, poller } = row();
    const { told } = connect();
    poller(event);
    expect(told()).toEqual([{ feed: 'state', origin: 'host-a' }]);
    expect(liveMessageSchema.parse(told()[0])).toEqual(told()[0]);
  });

  it('is made while anybody is connected', () => {
    const { connect, isFollowed } = row();
    expect(isFollowed()).toBe(false);
    const [first, second] = [connect(), connect()];
    first.handler.closed?.();
    expect(isFollowed()).toBe(true);
    second.handler.closed?.();
    expect(isFollowed()).toBe(false);
  });

  it('about the ledgers combines all changes of a short time, with their number', () => {
    const { clock, connect, ledgers } = row();
    const { told } = connect();
    ledgers('1');
    clock.advance(1_000);
    expect(told()).toEqual([]);
    ledgers('2');
    ledgers('3');
    clock.advance(1_000);
    expect(told()).toEqual([{ feed: 'events', origin: 'host-a', seq: 2 }]);
    ledgers('3', 's2', 'c2');
    clock.advance(1_000);
    expect(told().slice(1)).toEqual([
      { feed: 'sessions', origin: 'host-a', seq: 1 },
      { feed: 'commits', origin: 'host-a', seq: 1 },
    ]);
  });

  it('[RTE-7] about other hosts combines all changes of a short time, and names the last one', () => {
    const { clock, connect, remotes } = row();
    const { told } = connect();
    remotes('n-1');
    remotes('n-2');
    expect(told()).toEqual([]);
    clock.advance(1_000);
    expect(told()).toEqual([{ feed: 'remotes', tag: 'n-2' }]);
    remotes(null);
    clock.advance(1_000);
    expect(told().at(-1)).toEqual({ feed: 'remotes', tag: null });
    expect(liveMessageSchema.parse(told()[0])).toEqual(told()[0]);
  });

  it('waits up to a limit if the client does not read; then one message tells it to read the feed again', () => {
    const { clock, connect, feed, ledgers } = row();
    const [slow, other] = [connect(), connect()];
    ledgers('1');
    slow.socket.unsent = 2_000_000;
    for (const tag of ['a', 'b', 'c']) feed(tag);
    ledgers('2');
    clock.advance(1_000);
    expect(slow.sent).toEqual([]);
    expect(other.sent).toHaveLength(4);
    slow.socket.unsent = 0;
    slow.handler.drained?.();
    expect(slow.told()).toEqual([
      { feed: 'fibers', whole: true },
      { feed: 'events', whole: true },
    ]);
    feed('d');
    expect(slow.told().at(-1)).toEqual({ feed: 'fibers', tag: 'd' });
  });

  it('waits within a bound for all clients together, and again when one that waited has gone', () => {
    const { connect, feed } = row();
    const slow = Array.from({ length: 40 }, () => {
      const client = connect();
      client.socket.unsent = 1_000_000;
      return client;
    });
    feed('a');
    // Each may have a MiB, all of them 32 MiB.
    expect(slow.filter(({ sent }) => sent.length === 1)).toHaveLength(33);
    const other = connect();
    feed('b');
    expect(other.told()).toEqual([{ feed: 'fibers', tag: 'b' }]);
    const behind = slow.find(({ sent }) => sent.length === 0)!;
    behind.socket.unsent = 0;
    behind.handler.drained?.();
    expect(behind.told()).toEqual([{ feed: 'fibers', whole: true }]);
    for (const one of slow) one.handler.closed?.();
    const late = connect();
    late.socket.unsent = 1_000_000;
    feed('c');
    expect(late.told()).toEqual([{ feed: 'fibers', tag: 'c' }]);
  });

  it('is handed out in turns of a few milliseconds, each message to all before the next', async () => {
    const { connect, feed } = row();
    let turns = 0;
    const order: number[] = [];
    const all = Array.from({ length: 10 }, (_, nth) => {
      const client = connect();
      const { send } = client.socket;
      client.socket.send = (message) => {
        const end = performance.now() + 1.5;
        while (performance.now() < end);
        order.push(nth);
        send(message);
      };
      return client;
    });
    const count = () => {
      turns += 1;
      if (order.length < 20) setImmediate(count);
    };
    setImmediate(count);
    feed('a');
    feed('b');
    expect(order.length).toBeLessThan(10);
    await until('both messages', () => order.length === 20);
    expect(turns).toBeGreaterThan(5);
    for (const { told } of all)
      expect(told().map((message) => 'tag' in message && message.tag)).toEqual(['a', 'b']);
  });

  it('is not made for a client that has disconnected', () => {
    const { connect, feed } = row();
    const { handler, sent } = connect();
    handler.closed?.();
    feed('t');
    expect(sent).toEqual([]);
  });
});
