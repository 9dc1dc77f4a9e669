import { once } from 'node:events';
import { connect, type Socket as NetSocket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { z } from 'zod';
import { defineSocketRow, type Row } from '../../src/http/row.ts';
import type { Socket, SocketHandler, SocketRow } from '../../src/http/socket.ts';
import { until } from '../kit/until.ts';
import { ask, exchangeRaw, parseAnswers, requestText } from './raw-exchange.ts';
import { getRow, json, type Served, serve } from './served.ts';

/** A row of WebSockets for tests of the kernel: JSON both ways, unless told otherwise. */
function socketRow(
  path: string,
  open: SocketRow['open'],
  socket: Partial<SocketRow> = {},
  rest: Partial<Row> = {},
): Row {
  const takes = { message: z.looseObject({}), most_bytes: 1_000 };
  const rules = { sends: z.unknown(), takes, unsent_bytes: 1_000_000, most: 10, ...socket, open };
  return defineSocketRow({
    summary: 'a test',
    routing: 'local',
    state: 'always',
    path,
    ...rest,
    socket: rules,
  });
}

let served: Served | null = null;
const clients: (WebSocket | NetSocket)[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) {
    if (client instanceof WebSocket) client.terminate();
    else client.destroy();
  }
  await served?.server.stop();
  served = null;
});

const HANDSHAKE = {
  Upgrade: 'websocket',
  Connection: 'Upgrade',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version': '13',
};

/** What the server saw of one socket. */
type Seen = { socket: Socket; heard: unknown[]; drained: number; closed: number };

/** A server with the rows `/socket` and `/ok`, and what it saw. */
async function start(
  rules: Partial<SocketRow> & { handler?: SocketHandler } = {},
  options: Parameters<typeof serve>[1] = {},
) {
  const { handler, ...socket } = rules;
  const seen: Seen[] = [];
  const open: SocketRow['open'] = (opened) => {
    const one: Seen = { socket: opened, heard: [], drained: 0, closed: 0 };
    seen.push(one);
    return {
      message: (value) => {
        one.heard.push(value instanceof Uint8Array ? Buffer.from(value) : value);
        handler?.message?.(value);
      },
      drained: () => {
        one.drained += 1;
      },
      closed: () => {
        one.closed += 1;
      },
    };
  };
  const row = socketRow('/socket', socket.open ?? open, socket);
  served = await serve([row, getRow('/ok', () => json('ok'))], options);
  return { target: served, seen };
}

function dial({ port }: Served, options: ClientOptions = {}) {
  const client = new WebSocket(`ws://127.0.0.1:${port}/socket`, options);
  client.on('error', () => undefined);
  clients.push(client);
  return client;
}

async function dialled(target: Served, options: ClientOptions = {}) {
  const client = dial(target, options);
  await once(client, 'open');
  return client;
}

/** The code and the reason with which a client was closed. */
async function closed(client: WebSocket): Promise<{ code: number; reason: string }> {
  const [code, reason] = await once(client, 'close');
  return { code, reason: String(reason) };
}

/** The status and the error of a refused handshake. */
function refused(target: Served, headers: Record<string, string> = {}, path = '/socket') {
  return ask(target, 'GET', path, { headers: { ...HANDSHAKE, ...headers } }).then(
    ({ status, body, headers: answered }) => ({
      status,
      ...JSON.parse(body),
      connection: answered.connection,
    }),
  );
}

/** An open WebSocket over which a test writes frames itself; what comes is counted, not read. */
async function rawSocket({ port }: Served, behind: Uint8Array = Buffer.alloc(0)): Promise<NetSocket> {
  const socket = connect(port, '127.0.0.1');
  clients.push(socket);
  socket.on('error', () => undefined);
  socket.write(Buffer.concat([Buffer.from(requestText('GET', '/socket', HANDSHAKE)), behind]));
  const [head] = await once(socket, 'data');
  expect(String(head)).toMatch(/^HTTP\/1\.1 101 /);
  return socket;
}

/** The end of a connection, which a server that does not read what was sent may tell as a reset. */
function ended(socket: NetSocket): Promise<void> {
  return new Promise((done) => socket.once('close', () => done()));
}

const FIN = 0x80;
const CONTINUATION = 0;
const TEXT = 1;
const CLOSE = 8;
const PING = 9;

/** One frame of a client; `mask` null leaves out the mask that a client must use. */
function frame(
  first: number,
  payload: string | Uint8Array,
  mask: Buffer | null = Buffer.from([1, 2, 3, 4]),
): Buffer {
  const bytes = Buffer.from(payload as Uint8Array);
  const flag = mask === null ? 0 : 0x80;
  const head =
    bytes.length < 126
      ? Buffer.from([first, flag | bytes.length])
      : Buffer.from([first, flag | 126, bytes.length >> 8, bytes.length & 0xff]);
  const body = mask === null ? bytes : bytes.map((byte, at) => byte ^ mask[at % 4]!);
  return Buffer.concat([head, mask ?? Buffer.alloc(0), body]);
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value));

describe('a row that is a WebSocket', () => {
  it('carries JSON both ways', async () => {
    const { target, seen } = await start();
    const client = await dialled(target);
    seen[0]!.socket.send(encode({ hello: 'wörld' }));
    const [data, binary] = await once(client, 'message');
    expect([JSON.parse(String(data)), binary]).toEqual([{ hello: 'wörld' }, false]);
    client.send('{"from":"the client"}');
    await until('the message', () => seen[0]!.heard.length > 0);
    expect(seen[0]!.heard).toEqual([{ from: 'the client' }]);
  });

  it('carries binary messages if its row uses bytes, and JSON the other way', async () => {
    const { target, seen } = await start({ takes: { message: 'bytes', most_bytes: 640 }, sends: 'bytes' });
    const client = await dialled(target);
    client.send(Buffer.alloc(640, 7));
    await until('the message', () => seen[0]!.heard.length > 0);
    expect(seen[0]!.heard).toEqual([Buffer.alloc(640, 7)]);
    seen[0]!.socket.send(Buffer.from([1, 2]));
    const [data, binary] = await once(client, 'message');
    expect([[...data], binary]).toEqual([[1, 2], true]);
  });

  it('joins the fragments of a message, with a ping between them', async () => {
    const { target, seen } = await start();
    const socket = await rawSocket(target);
    socket.write(frame(TEXT, '{"a"'));
    socket.write(frame(FIN | PING, 'x'));
    socket.write(frame(FIN | CONTINUATION, ':1}'));
    await until('the message', () => seen[0]!.heard.length > 0);
    expect(seen[0]!.heard).toEqual([{ a: 1 }]);
  });

  it('passes the path, the query and the headers of the request to its handler', async () => {
    const asked: unknown[] = [];
    const row = socketRow(
      '/of/:name',
      (_socket, { params, query, headers }) => {
        asked.push([params, query, headers['x-mark']]);
        return {};
      },
      {},
      { query: z.object({ launch: z.string() }) },
    );
    served = await serve([row]);
    const address = `ws://127.0.0.1:${served.port}/of/a%20b`;
    const client = new WebSocket(`${address}?launch=7`, { headers: { 'X-Mark': 'm' } });
    clients.push(client);
    await once(client, 'open');
    expect(asked).toEqual([[{ name: 'a b' }, { launch: '7' }, 'm']]);
    expect(await refused(served, {}, '/of/a')).toMatchObject({ status: 400, error: 'invalid_request' });
  });

  it('accepts no subprotocol and no extension', async () => {
    const { target } = await start();
    const protocols = {
      'Sec-WebSocket-Protocol': `${'a,'.repeat(100)}a`,
      'Sec-WebSocket-Extensions': ';;=,"',
    };
    const { text } = await exchangeRaw(
      target,
      [requestText('GET', '/socket', { ...HANDSHAKE, ...protocols })],
      (heard) => heard.includes('\r\n\r\n'),
    );
    expect(text).toMatch(/^HTTP\/1\.1 101 /);
    expect(text).toMatch(/sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/i);
    expect(text).not.toMatch(/sec-websocket-(?:protocol|extensions)/i);
  });

  it('is counted as a request with status 101', async () => {
    const observed: unknown[] = [];
    const { target } = await start({}, { observe: ({ path, status }) => observed.push([path, status]) });
    await dialled(target);
    expect(observed).toEqual([['/socket', 101]]);
  });
});

describe('a request to upgrade', () => {
  it.each([
    ['a page of elsewhere', { Origin: 'http://evil.example' }, 'forbidden_origin'],
    ['a page of no origin', { Origin: 'null' }, 'forbidden_origin'],
    ['a page of another port', { Origin: 'http://127.0.0.1:1', Host: '127.0.0.1:4000' }, 'forbidden_origin'],
    [
      'a browser for another site',
      { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'websocket' },
      'forbidden_origin',
    ],
    ['a name of elsewhere', { Host: 'evil.example' }, 'forbidden_host'],
  ])('[AUT-3] [P18] is refused: %s', async (_who, headers, error) => {
    const { target, seen } = await start();
    expect(await refused(target, headers)).toMatchObject({ status: 403, error });
    expect(seen).toEqual([]);
  });

  it.each([
    ['a program, which names no origin', {}],
    [
      'the own page',
      { Origin: 'http://127.0.0.1:4000', Host: '127.0.0.1:4000', 'Sec-Fetch-Site': 'same-origin' },
    ],
    ['a page that is listed', { Origin: 'http://localhost:5173', 'Sec-Fetch-Site': 'same-site' }],
  ])('[AUT-3] is accepted: %s', async (_who, headers) => {
    const { target } = await start({}, { access: { dev_origins: ['http://localhost:5173'] } });
    const client = await dialled(target, { headers });
    expect(client.readyState).toBe(WebSocket.OPEN);
  });

  it('is refused before the daemon is ready', async () => {
    let booting: Record<string, unknown> | null = { error: 'booting' };
    const row = socketRow('/socket', () => ({}), {}, { state: 'ready' });
    served = await serve([row], { booting: () => booting });
    expect(await refused(served)).toMatchObject({ status: 503, error: 'booting' });
    booting = null;
    await dialled(served);
  });

  it('is refused above the limit of its row, until one closes', async () => {
    const { target, seen } = await start({ most: 2 });
    const first = await dialled(target);
    await dialled(target);
    expect(await refused(target)).toMatchObject({ status: 503, error: 'too_many_connections' });
    first.close();
    await until('the first to have left', () => seen[0]!.closed === 1);
    await dialled(target);
    expect(seen).toHaveLength(3);
  });

  it('is refused behind a request that is not answered yet', async () => {
    let opened = 0;
    const wait = getRow('/wait', () => new Promise(() => undefined));
    const row = socketRow('/socket', () => {
      opened += 1;
      return {};
    });
    served = await serve([wait, row], { limits: { drain_ms: 100 } });
    const both = requestText('GET', '/wait') + requestText('GET', '/socket', HANDSHAKE);
    expect(await exchangeRaw(served, [both])).toEqual({ text: '', closed: true });
    expect(opened).toBe(0);
  });
});

describe('a request that is not a complete handshake', () => {
  it.each(['GET', 'HEAD'])('[ERR-21] is told to upgrade if it requests nothing: %s', async (method) => {
    const { target, seen } = await start();
    const answer = await ask(target, method, '/socket');
    expect(answer.status).toBe(426);
    if (method === 'GET')
      expect(JSON.parse(answer.body)).toEqual({
        error: 'upgrade_required',
        message: '/socket is a WebSocket; connect with a WebSocket client, which sends Upgrade: websocket.',
      });
    expect(seen).toEqual([]);
  });

  it.each([
    ['without a key', { 'Sec-WebSocket-Key': '' }, /Sec-WebSocket-Key/],
    ['with a short key', { 'Sec-WebSocket-Key': 'abc' }, /Sec-WebSocket-Key/],
    ['with a key that is no base64', { 'Sec-WebSocket-Key': '!'.repeat(24) }, /Sec-WebSocket-Key/],
    ['of version 8', { 'Sec-WebSocket-Version': '8' }, /Version must be 13/],
    ['of no version', { 'Sec-WebSocket-Version': '' }, /Version must be 13/],
    ['to two protocols', { Upgrade: 'h2c, websocket' }, /Upgrade must name websocket/],
    ['without a Connection header', { Connection: 'keep-alive' }, /Connection must name Upgrade/],
  ])('is refused with the reason: %s', async (_what, headers, message) => {
    const { target, seen } = await start();
    const answer = await refused(target, headers);
    expect(answer).toMatchObject({ status: 400, error: 'invalid_request', connection: 'close' });
    expect(answer.message).toMatch(message);
    expect(seen).toEqual([]);
  });

  it('is refused if the row is no WebSocket, and the connection ends', async () => {
    const { target } = await start();
    expect(await refused(target, {}, '/ok')).toMatchObject({ status: 400, connection: 'close' });
    expect(await refused(target, {}, '/nowhere')).toMatchObject({ status: 404 });
    const body = { headers: HANDSHAKE, body: '{}' };
    expect((await ask(target, 'POST', '/socket', body)).status).toBe(405);
  });

  it('is handled as a request if another protocol is offered', async () => {
    const { target } = await start();
    const headers = { Upgrade: 'h2c', Connection: 'Upgrade' };
    expect((await ask(target, 'GET', '/ok', { headers })).body).toBe('"ok"');
    expect((await ask(target, 'GET', '/socket', { headers })).status).toBe(426);
  });
});

describe('a message that its row does not accept', () => {
  it.each([
    ['no JSON', '{', 1008],
    ['of another shape', '{"a":"b"}', 1008],
    ['binary', Buffer.from('{"a":1}'), 1003],
    ['too long for the row', `{"a":1,"b":"${'x'.repeat(100)}"}`, 1009],
  ])('closes the socket: %s', async (_what, message, code) => {
    const takes = { message: z.object({ a: z.number() }), most_bytes: 100 };
    const seen: unknown[] = [];
    const row = socketRow('/socket', () => ({ message: (value) => seen.push(value) }), { takes });
    // Another row takes longer messages, so that the transport lets this one pass.
    const long = socketRow('/long', () => ({}), { takes: { ...takes, most_bytes: 10_000 } });
    served = await serve([row, long]);
    const client = await dialled(served);
    client.send(message);
    expect((await closed(client)).code).toBe(code);
    expect(seen).toEqual([]);
  });

  it('closes the socket if it is text and bytes are expected', async () => {
    const { target, seen } = await start({ takes: { message: 'bytes', most_bytes: 100 } });
    const client = await dialled(target);
    client.send('text');
    expect((await closed(client)).code).toBe(1003);
    expect(seen[0]!.heard).toEqual([]);
  });

  it('closes the socket if none is accepted', async () => {
    const { target, seen } = await start({ takes: null });
    const client = await dialled(target);
    client.send('{}');
    const reason = 'This WebSocket takes no messages; it only sends.';
    expect(await closed(client)).toEqual({ code: 1008, reason });
    await until('the end', () => seen[0]!.closed === 1);
  });

  it('ends the connection if it exceeds the limit of every row, however it is fragmented', async () => {
    const { target, seen } = await start();
    const whole = await dialled(target);
    whole.send(`"${'x'.repeat(100_000)}"`);
    expect([1006, 1009]).toContain((await closed(whole)).code);
    const cut = await rawSocket(target);
    const gone = ended(cut);
    cut.write(frame(TEXT, '"x'));
    for (let part = 0; part < 100; part += 1) cut.write(frame(CONTINUATION, 'x'.repeat(100)));
    cut.resume();
    await gone;
    await until('both ends', () => seen.every((one) => one.closed === 1));
    expect(seen.map((one) => one.heard)).toEqual([[], []]);
  });
});

describe('frames that break the protocol', () => {
  const hostile: [string, Buffer[]][] = [
    ['a reserved bit', [frame(FIN | 0x40 | TEXT, '{}')]],
    ['an unknown opcode', [frame(FIN | 3, '{}')]],
    ['an unknown control opcode', [frame(FIN | 11, '')]],
    ['a fragmented ping', [frame(PING, 'x')]],
    ['a ping of 126 bytes', [frame(FIN | PING, 'x'.repeat(126))]],
    ['bytes that are no UTF-8', [frame(FIN | TEXT, Buffer.from([0x22, 0xc3, 0x28, 0x22]))]],
    ['a continuation of nothing', [frame(FIN | CONTINUATION, '{}')]],
    ['a text inside a text', [frame(TEXT, '{'), frame(FIN | TEXT, '{}')]],
    [
      'a length of eight bytes',
      [Buffer.from([FIN | TEXT, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255, 1, 2, 3, 4])],
    ],
    ['a close of one byte', [frame(FIN | CLOSE, 'x')]],
    ['bytes that are no frames', [Buffer.from('GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(40))]],
  ];
  it.each(hostile)('end the connection and reach no handler: %s', async (_what, frames) => {
    const { target, seen } = await start();
    const socket = await rawSocket(target);
    const gone = ended(socket);
    socket.resume();
    for (const one of frames) socket.write(one);
    await gone;
    await until('the end', () => seen[0]!.closed === 1);
    expect(seen[0]!.heard).toEqual([]);
    expect((await ask(target, 'GET', '/ok')).status).toBe(200);
  });

  it('do not reach the handler as they were sent if the mask is missing', async () => {
    const { target, seen } = await start();
    const socket = await rawSocket(target);
    socket.resume();
    socket.write(frame(FIN | TEXT, '{"a":1}', null));
    socket.write(frame(FIN | TEXT, '{"a":1}', null));
    await until('the end', () => socket.destroyed || seen[0]!.closed === 1);
    expect(seen[0]!.heard).toEqual([]);
  });

  it('use no memory if they are a flood of empty fragments', async () => {
    const { target, seen } = await start();
    const socket = await rawSocket(target);
    socket.resume();
    const before = process.memoryUsage().rss;
    socket.write(frame(TEXT, ''));
    const flood = Buffer.concat(Array.from({ length: 10_000 }, () => frame(CONTINUATION, '')));
    for (let part = 0; part < 30 && !socket.destroyed; part += 1)
      await new Promise((resolve) => socket.write(flood, resolve));
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
    expect(seen[0]!.heard).toEqual([]);
    expect((await ask(target, 'GET', '/ok')).status).toBe(200);
  });

  it('do not slow down others if they are a flood of unread pings', async () => {
    const { target, seen } = await start({ unsent_bytes: 100_000 });
    const other = await dialled(target);
    const socket = await rawSocket(target);
    socket.pause();
    const part = Buffer.concat(Array.from({ length: 1_000 }, () => frame(FIN | PING, 'x'.repeat(125))));
    let [written, most] = [0, 0];
    const flood = () => {
      if (!socket.destroyed && written < 400) socket.write(part, flood);
      written += 1;
    };
    flood();
    // 400 parts have more answers than the system's own buffers take.
    const held = await until('the flood to be cut off, or held back or taken whole', async () => {
      const before = written;
      for (let look = 0; look < 20; look += 1) {
        expect((await ask(target, 'GET', '/ok')).status).toBe(200);
        most = Math.max(most, seen[1]!.socket.unsent);
        if (seen[1]!.closed === 1) return 'cut off';
      }
      if (written !== before) return null;
      return written > 400 ? 'taken' : 'held back';
    });
    expect(['cut off', 'held back']).toContain(held);
    expect(most).toBeLessThan(1_000_000);
    seen[0]!.socket.send(encode('still here'));
    expect(String((await once(other, 'message'))[0])).toBe('"still here"');
    expect(seen[0]!.closed).toBe(0);
  });
});

describe('a client that does not read', () => {
  it('is closed when more than its row allows is waiting, without affecting others', async () => {
    const { target, seen } = await start({ unsent_bytes: 300_000 });
    const slow = await rawSocket(target);
    slow.pause();
    const other = await dialled(target);
    let taken = 0;
    other.on('message', () => {
      taken += 1;
    });
    const message = encode('x'.repeat(100_000));
    let [sent, most] = [0, 0];
    while (seen[0]!.closed === 0) {
      for (const one of seen) one.socket.send(message);
      sent += 1;
      most = Math.max(most, seen[0]!.socket.unsent);
      await until('the other client to have it', () => taken === sent);
    }
    // What the system's own buffers take is not ours.
    expect(sent).toBeGreaterThan(3);
    expect(most).toBeLessThanOrEqual(300_000 + message.length);
    expect(seen[1]!.closed).toBe(0);
    expect(other.readyState).toBe(WebSocket.OPEN);
  });

  it('is reported by `unsent`, and to its handler when it has read', async () => {
    const { target, seen } = await start({ unsent_bytes: 50_000_000 });
    const slow = await rawSocket(target);
    slow.pause();
    const { socket } = seen[0]!;
    await until('bytes that wait', () => {
      socket.send(encode('x'.repeat(100_000)));
      return socket.unsent > 1_000_000;
    });
    const before = seen[0]!.drained;
    slow.resume();
    await until('the handler to be told', () => seen[0]!.drained > before && socket.unsent === 0);
    expect(seen[0]!.closed).toBe(0);
  });

  it('is closed when it answers no ping, while one that answers stays open', async () => {
    const { target, seen } = await start({}, { limits: { ping_ms: 50 } });
    const dead = await dialled(target, { autoPong: false });
    const alive = await dialled(target);
    expect((await closed(dead)).code).toBe(1006);
    await until('some more pings', () => new Promise((resolve) => setTimeout(() => resolve(true), 400)));
    expect(seen.map((one) => one.closed)).toEqual([1, 0]);
    expect(alive.readyState).toBe(WebSocket.OPEN);
  });
});

describe('the end of a socket', () => {
  it('notifies the handler once when the client closes it', async () => {
    const { target, seen } = await start();
    const client = await dialled(target);
    client.close(4000, 'enough');
    expect(await closed(client)).toEqual({ code: 4000, reason: 'enough' });
    await until('the handler to be told', () => seen[0]!.closed > 0);
    const { socket } = seen[0]!;
    socket.send(encode('to nobody'));
    socket.close(1000, 'again');
    expect([seen[0]!.closed, socket.unsent]).toEqual([1, 0]);
  });

  it('notifies the handler once when the client resets the connection', async () => {
    const { target, seen } = await start();
    (await rawSocket(target)).resetAndDestroy();
    await until('the handler to be told', () => seen[0]!.closed === 1);
  });

  it('has a code and a reason that is cut between two characters', async () => {
    const { target, seen } = await start();
    const client = await dialled(target);
    seen[0]!.socket.close(4410, `${'ä'.repeat(61)}€`);
    expect(await closed(client)).toEqual({ code: 4410, reason: 'ä'.repeat(61) });
    await until('the handler to be told', () => seen[0]!.closed === 1);
  });

  it('is 1011 if the handler fails, on opening or later; a handler that closes at once is notified too', async () => {
    const { target } = await start({
      open: () => {
        throw new Error('a fault of the handler');
      },
    });
    expect((await closed(dial(target))).code).toBe(1011);
    await target.server.stop();
    const later = await start({
      handler: {
        message: () => {
          throw new Error('a fault of the handler');
        },
      },
    });
    const client = await dialled(later.target);
    client.send('{}');
    expect((await closed(client)).code).toBe(1011);
    await later.target.server.stop();
    let told = 0;
    const atOnce = await start({
      open: (socket) => {
        socket.close(4404, 'no');
        return {
          closed: () => {
            told += 1;
          },
        };
      },
    });
    expect(await closed(dial(atOnce.target))).toEqual({ code: 4404, reason: 'no' });
    await until('the handler to be told', () => told === 1);
  });

  it('is 1001 when the server stops, which does not wait for silent clients', async () => {
    const { target, seen } = await start({}, { limits: { drain_ms: 500 } });
    const client = await dialled(target);
    const silent = await rawSocket(target);
    silent.pause();
    const end = closed(client);
    await target.server.stop();
    expect(await end).toEqual({ code: 1001, reason: 'The daemon stops.' });
    await until('the handlers to be told', () => seen.every((one) => one.closed === 1));
  });
});

it('does not affect requests on connections that were not upgraded', async () => {
  const { target } = await start();
  const text = requestText('GET', '/socket') + requestText('GET', '/ok');
  const heard = await exchangeRaw(target, [text], (all) => parseAnswers(all).length === 2);
  expect(parseAnswers(heard.text).map(({ status }) => status)).toEqual([426, 200]);
});

it('accepts or drops frames in the segment of the handshake, without losing the frame boundary', async () => {
  const { target, seen } = await start();
  const socket = await rawSocket(target, frame(FIN | TEXT, '{"n":1}'));
  socket.write(frame(FIN | TEXT, '{"n":2}'));
  await until(
    'the last frame',
    () => seen[0]!.heard.length > 0 && JSON.stringify(seen[0]!.heard.at(-1)) === '{"n":2}',
  );
  expect([[{ n: 2 }], [{ n: 1 }, { n: 2 }]]).toContainEqual(seen[0]!.heard);
});
