import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import type { RequestView } from '../../../src/http/request-view.ts';
import { defineSocketRow } from '../../../src/http/row.ts';
import type { Socket, SocketHandler, SocketRow } from '../../../src/http/socket.ts';
import { type TrustedFolder, trustedFolder } from '../../kit/trusted-folder.ts';
import { until } from '../../kit/until.ts';
import { ask } from '../raw-exchange.ts';
import { getRow, json, type Served, serve } from '../served.ts';
import { listenRaw, routeOf, type Stranger, urlOf } from './hosts.ts';

const TAKES = { message: z.looseObject({}), most_bytes: 1_000 };

function rowsOf(open: SocketRow['open'], rules: Partial<SocketRow> = {}) {
  const socket = { sends: z.unknown(), takes: TAKES, unsent_bytes: 4_000_000, most: 3, ...rules, open };
  const query = z.looseObject({ origin: z.string().optional() });
  const shared = { summary: 'a test', routing: 'host', state: 'always', path: '/socket', query } as const;
  return [defineSocketRow({ ...shared, socket }), getRow('/ok', () => json('ok'))];
}

const servers: Served[] = [];
const strangers: Stranger[] = [];
const clients: WebSocket[] = [];
const near_ends: Server[] = [];
let folder: TrustedFolder | null = null;
afterEach(async () => {
  for (const client of clients.splice(0)) client.terminate();
  for (const { server } of servers.splice(0)) await server.stop();
  for (const stranger of strangers.splice(0)) stranger.close();
  for (const server of near_ends.splice(0)) server.close();
  folder?.remove();
  folder = null;
});

/** What the owner saw of one socket. */
type Seen = { socket: Socket; request: RequestView; heard: unknown[]; closed: number };

async function startOwner(rules: Partial<SocketRow> = {}, handler: SocketHandler = {}) {
  const seen: Seen[] = [];
  const open: SocketRow['open'] = (socket, request) => {
    const one: Seen = { socket, request, heard: [], closed: 0 };
    seen.push(one);
    return {
      ...handler,
      message: (value) => void one.heard.push(value instanceof Uint8Array ? Buffer.from(value) : value),
      closed: () => {
        one.closed += 1;
      },
    };
  };
  const owner = await serve(rowsOf(open, rules), { host: 'host-b', route: routeOf('host-b', {}) });
  servers.push(owner);
  return { owner, seen };
}

async function startAsker(place: string, rules: Partial<SocketRow> = {}, silent?: AbortSignal) {
  const mine = () => {
    throw new Error('this is for another host');
  };
  const route = routeOf('host-a', { 'host-b': place }, silent);
  const asker = await serve(rowsOf(mine, rules), { host: 'host-a', route });
  servers.push(asker);
  return asker;
}

function open({ port }: Served, origin = 'host-b') {
  const client = new WebSocket(`ws://127.0.0.1:${port}/socket?what=x&origin=${origin}`);
  clients.push(client);
  const messages: string[] = [];
  client.on('message', (data, binary) => messages.push(`${binary ? 'bytes' : 'text'} ${data}`));
  client.on('error', () => undefined);
  const closed = new Promise((resolve) => client.on('close', (code, why) => resolve([code, String(why)])));
  return { client, messages, closed };
}

/** The near end of a tunnel: a socket file that leads to a port. */
async function tunnelTo({ port }: Served): Promise<string> {
  folder = trustedFolder();
  const path = join(folder.path, 'b.sock');
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    near.pipe(far).pipe(near);
    for (const end of [near, far]) end.on('error', () => undefined);
  });
  near_ends.push(server);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return path;
}

describe('a WebSocket for another host', () => {
  it.each(['a URL', 'a Unix socket'])(
    '[RTE-3] is passed on both ways over %s, with the hosts that did',
    async (way) => {
      const { owner, seen } = await startOwner();
      const asker = await startAsker(way === 'a URL' ? urlOf(owner) : await tunnelTo(owner));
      const { client, messages, closed } = open(asker);
      await once(client, 'open');
      client.send('{"n":1}');
      await until('the message', () => seen[0]?.heard.length === 1);
      const [{ socket, request, heard }] = seen as [Seen];
      expect(heard).toEqual([{ n: 1 }]);
      expect(request.query).toEqual({ what: 'x', origin: 'host-b' });
      socket.send(Buffer.from('{"answer":"é"}'));
      await until('the answer', () => messages.length === 1);
      expect(messages).toEqual(['text {"answer":"é"}']);
      socket.close(4410, 'The worker has ended.');
      expect(await closed).toEqual([4410, 'The worker has ended.']);
      await until('the end there', () => seen[0]!.closed === 1);
    },
  );

  it('[RTE-3] carries bytes as bytes, also those that were sent before the other host was there', async () => {
    const rules = { sends: 'bytes', takes: { message: 'bytes', most_bytes: 1_000 } } as const;
    const { owner, seen } = await startOwner(rules);
    const { client, messages } = open(await startAsker(urlOf(owner), rules));
    await once(client, 'open');
    for (const byte of [1, 2, 3]) client.send(Buffer.from([byte]));
    await until('the bytes', () => seen[0]?.heard.length === 3);
    expect(seen[0]!.heard).toEqual([1, 2, 3].map((byte) => Buffer.from([byte])));
    seen[0]!.socket.send(Buffer.from('abc'));
    await until('the answer', () => messages.length === 1);
    expect(messages).toEqual(['bytes abc']);
  });

  it('keeps few messages, also empty ones, for a host that does not take the socket over', async () => {
    const rules = { takes: { message: 'bytes', most_bytes: 1_000 } } as const;
    const silent = await listenRaw(() => undefined);
    strangers.push(silent);
    const { client, closed } = open(await startAsker(urlOf(silent), rules));
    await once(client, 'open');
    for (let nth = 0; nth < 500; nth += 1) client.send(Buffer.alloc(0));
    expect(await closed).toEqual([1013, expect.stringContaining('too slowly')]);
  });

  it('[RTE-3] ends there when the client leaves', async () => {
    const { owner, seen } = await startOwner();
    const { client } = open(await startAsker(urlOf(owner)));
    await until('the socket there', () => seen.length === 1);
    client.close();
    await until('the end there', () => seen[0]!.closed === 1);
  });

  it('is read no faster than its client takes it, which is not cut off', async () => {
    const { owner, seen } = await startOwner({ unsent_bytes: 200_000_000 });
    const { client, messages } = open(await startAsker(urlOf(owner)));
    await until('the socket there', () => seen.length === 1);
    client.pause();
    const { socket } = seen[0]!;
    const message = Buffer.from(JSON.stringify('x'.repeat(1_000_000)));
    const sent = 80;
    for (let nth = 0; nth < sent; nth += 1) socket.send(message);
    // The owner keeps what neither this host nor its client has taken.
    await until('the buffers to be full', () => socket.unsent > 20_000_000);
    client.resume();
    await until('all of it', () => messages.length === sent);
    expect(client.readyState).toBe(WebSocket.OPEN);
  });

  it('closes with a sentence where the other host refuses it, is not there, breaks off or sends another kind', async () => {
    const { owner, seen } = await startOwner({ sends: 'bytes' });
    const asker = await startAsker(urlOf(owner));
    const first = open(asker);
    await until('the socket there', () => seen.length === 1);
    seen[0]!.socket.send(Buffer.from('{}'));
    expect(await first.closed).toEqual([4503, expect.stringContaining('a message of another kind')]);
    const plain = await listenRaw((socket) =>
      socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'),
    );
    strangers.push(plain);
    const second = open(await startAsker(urlOf(plain)));
    expect(await second.closed).toEqual([4503, expect.stringMatching(/^host-b at 127.*refused with 404$/)]);
    plain.close();
    const third = open(await startAsker(urlOf(plain)));
    expect(await third.closed).toEqual([4503, expect.stringContaining('ECONNREFUSED')]);
    expect((await ask(asker, 'GET', '/ok')).status).toBe(200);
  });

  it('[RTE-3] is refused by a host that the entry does not mean, in the words of that host', async () => {
    const { owner } = await startOwner();
    const asker = await startAsker(urlOf(owner));
    const stranger = await serve(
      rowsOf(() => ({})),
      { host: 'host-c', route: routeOf('host-c', {}) },
    );
    servers.push(stranger);
    const { closed } = open(await startAsker(urlOf(stranger)));
    expect(await closed).toEqual([4503, expect.stringContaining('This is host-c.')]);
    expect((await ask(asker, 'GET', '/ok')).status).toBe(200);
  });

  it('[BRK-1] ends once the other host is known to answer nobody', async () => {
    const silent = new AbortController();
    const { owner, seen } = await startOwner();
    const { closed } = open(await startAsker(urlOf(owner), {}, silent.signal));
    await until('the socket there', () => seen.length === 1);
    silent.abort();
    expect(await closed).toEqual([4503, expect.stringContaining('answers nobody')]);
  });

  it('may be open as often as its row says, beside those that end here', async () => {
    const { owner, seen } = await startOwner({ most: 10 });
    const asker = await startAsker(urlOf(owner), { most: 2 });
    for (const nth of [1, 2]) {
      open(asker);
      await until('the socket there', () => seen.length === nth);
    }
    const third = open(asker);
    await third.closed;
    expect(seen).toHaveLength(2);
  });
});
