import { once } from 'node:events';
import { chmodSync, mkdirSync } from 'node:fs';
import { type IncomingMessage, request as nodeRequest, type RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SANDBOX_SECURITY_HEADERS } from '../../../src/access/security-headers.ts';
import type { Row } from '../../../src/http/row.ts';
import type { HttpLimits } from '../../../src/http/server.ts';
import { scratchFolder } from '../../kit/scratch-folder.ts';
import { until } from '../../kit/until.ts';
import { ask, exchangeRaw, requestText } from '../raw-exchange.ts';
import type { Served } from '../served.ts';
import { listenHttp, listenRaw, type Stranger, serveAsker, urlOf } from './hosts.ts';

let asker: Served;
const strangers: Stranger[] = [];
afterEach(async () => {
  for (const stranger of strangers.splice(0)) stranger.close();
  await asker.server.stop();
});

const HEAD = 'HTTP/1.1 200 OK\r\nSvc-Host: host-b\r\nContent-Type: text/plain\r\n';

/** A daemon whose host-b is this stranger. */
async function beside(
  stranger: Stranger,
  limits: Partial<HttpLimits> = {},
  rest: Partial<Row> = {},
): Promise<Stranger> {
  strangers.push(stranger);
  asker = await serveAsker({ 'host-b': urlOf(stranger) }, limits, rest);
  return stranger;
}

/** Speaks these bytes as soon as it has heard something. */
const saying = (...parts: string[]) =>
  listenRaw((socket) => {
    socket.once('data', () => {
      for (const part of parts) socket.write(part);
    });
  });

const read = () => ask(asker, 'GET', '/read?origin=host-b');
const write = () => ask(asker, 'POST', '/write', { body: '{"origin":"host-b"}' });
const bodyOf = ({ status, body }: { status: number; body: string }) => ({ status, ...JSON.parse(body) });

describe('[MSG-5] an answer that has to have its shape', () => {
  const checks = { checks_answer: true, replies: { 200: z.object({ ok: z.boolean() }) } };
  const answering = async (status: number, text: string) => {
    const stranger = await listenHttp((_, response) => {
      response.writeHead(status, {
        ...{ 'svc-host': 'host-b', 'content-type': 'application/json' },
        'content-length': Buffer.byteLength(text),
      });
      response.end(text);
    });
    return beside(stranger, {}, checks);
  };

  it('goes through with it, and so does a refusal', async () => {
    await answering(200, '{"ok": true, "more": 1}');
    expect(await write()).toMatchObject({ status: 200, body: '{"ok": true, "more": 1}' });
    await asker.server.stop();
    await answering(409, '{"error": "conflict"}');
    expect(await write()).toMatchObject({ status: 409, body: '{"error": "conflict"}' });
  });

  it.each([
    [200, '{"ok": ['],
    [200, '{"ok": 1}'],
    [200, ''],
    [204, ''],
    [202, '{"ok": true}'],
    [200, JSON.stringify({ ok: true, more: 'x'.repeat(1_100_000) })],
  ])('is told as one that cannot be read otherwise: %i %.20s', async (status, text) => {
    await answering(status, text);
    expect(bodyOf(await write())).toMatchObject({
      ...{ status: 502, error: 'answer_unreadable', origin: 'host-b' },
      message: expect.stringContaining('It may have taken effect'),
    });
    expect((await ask(asker, 'GET', '/ok')).status).toBe(200);
  });

  it('is told so where it breaks off', async () => {
    const head = 'HTTP/1.1 200 OK\r\nSvc-Host: host-b\r\nContent-Type: application/json\r\n';
    const stranger = await listenRaw((socket) => {
      socket.once('data', () => socket.end(`${head}Content-Length: 20\r\n\r\n{"ok"`));
    });
    await beside(stranger, {}, checks);
    expect(bodyOf(await write())).toMatchObject({ status: 502, error: 'answer_unreadable' });
  });
});

describe('a host that cannot be asked', () => {
  it('is named with the address and the fix where nobody listens, and a write says that nothing was sent', async () => {
    const stranger = await listenRaw(() => undefined);
    stranger.close();
    asker = await serveAsker({ 'host-b': urlOf(stranger) });
    const refused = {
      status: 503,
      error: 'remote_unreachable',
      origin: 'host-b',
      message: expect.stringMatching(
        `host-b does not answer at 127.0.0.1:${stranger.port}: .*ECONNREFUSED.*tunnel`,
      ),
    };
    expect(bodyOf(await read())).toMatchObject(refused);
    expect(bodyOf(await write())).toMatchObject({
      ...refused,
      message: expect.stringContaining('Nothing was sent'),
    });
    expect(bodyOf(await ask(asker, 'POST', '/bytes', { body: '{"origin":"host-b"}' }))).toMatchObject(
      refused,
    );
    expect((await ask(asker, 'GET', '/ok')).status).toBe(200);
  });

  it('[BRK-1] is not waited for once it is known to answer nobody, and a write says that it may have taken effect', async () => {
    const silent = new AbortController();
    const stranger = await listenRaw(() => undefined);
    strangers.push(stranger);
    asker = await serveAsker({ 'host-b': urlOf(stranger) }, {}, {}, silent.signal);
    const waiting = [read(), write()];
    await until('both are on their way', () => stranger.connections.length === 2);
    silent.abort();
    const [first, second] = (await Promise.all(waiting)).map(bodyOf);
    const refused = { status: 503, error: 'remote_unreachable', origin: 'host-b' };
    const message = expect.stringMatching(/it stopped answering.*tunnel are running\.$/);
    expect(first).toMatchObject({ ...refused, message });
    expect(second).toMatchObject({
      ...refused,
      message: expect.stringContaining(
        'It may have taken effect: check on that host before you send it again.',
      ),
    });
    expect((await ask(asker, 'GET', '/ok')).status).toBe(200);
  });

  it('[MSG-3] may be sent again by its id where it takes effect once for each', async () => {
    await beside(await listenRaw(() => undefined), {}, { answer_ms: 300, once_by_id: true });
    const { message } = bodyOf(await write());
    expect(message).toMatch(
      /It may have taken effect; sent again with the same message_id, it takes effect once\.$/,
    );
  });

  it('is not asked over a socket that another user may have made, and the message names the fix', async () => {
    const scratch = scratchFolder();
    try {
      const open = join(scratch.path, 'open');
      mkdirSync(open);
      chmodSync(open, 0o777);
      asker = await serveAsker({ 'host-b': join(open, 'b.sock') });
      const refused = { status: 422, error: 'invalid_config', origin: 'host-b' };
      expect(bodyOf(await read())).toMatchObject({
        ...refused,
        message: expect.stringContaining('chmod go-w'),
      });
      expect(bodyOf(await write())).toMatchObject({
        ...refused,
        message: expect.stringContaining('Nothing was sent'),
      });
      chmodSync(open, 0o700);
      expect(bodyOf(await read())).toMatchObject({
        error: 'remote_unreachable',
        message: expect.stringMatching(/open\/b\.sock: .*ENOENT.*tunnel/),
      });
    } finally {
      scratch.remove();
    }
  });

  it('is given the time of the row, and a write says that it may have taken effect', async () => {
    await beside(await listenRaw(() => undefined), {}, { answer_ms: 300 });
    const late = { status: 504, error: 'deadline_exceeded', origin: 'host-b' };
    expect(bodyOf(await read())).toMatchObject(late);
    expect(bodyOf(await write())).toMatchObject({
      ...late,
      message: expect.stringContaining('may have taken effect'),
    });
  });

  it('keeps few requests waiting, and none that are for somebody else', async () => {
    await beside(await listenRaw(() => undefined), { forwards_of_one_host: 3 }, { answer_ms: 60_000 });
    const waiting = Array.from({ length: 3 }, () =>
      nodeRequest({ port: asker.port, path: '/read?origin=host-b', agent: false })
        .on('error', () => undefined)
        .end(),
    );
    await until('the requests', () => strangers[0]!.connections.length === 3);
    expect(bodyOf(await read())).toMatchObject({ status: 503, error: 'queue_full', origin: 'host-b' });
    expect((await ask(asker, 'GET', '/ok')).status).toBe(200);
    for (const call of waiting) call.destroy();
    await until('room', async () => {
      const call = nodeRequest({ port: asker.port, path: '/read?origin=host-b', agent: false }).end();
      call.on('error', () => undefined);
      await new Promise((resolve) => setTimeout(resolve, 50));
      const room = strangers[0]!.connections.length > 3;
      call.destroy();
      return room;
    });
  });
});

describe('what answers where a daemon is expected', () => {
  it.each<[string, RequestListener]>([
    ['another server', (_, response) => response.end('<html>')],
    ['another server that refuses', (_, response) => response.writeHead(403).end('no')],
    ['a redirect', (_, response) => response.writeHead(302, { Location: '/elsewhere' }).end()],
    ['an unknown status', (_, response) => response.writeHead(299, { 'Svc-Host': 'host-b' }).end('x')],
  ])('is no daemon: %s', async (_, listener) => {
    await beside(await listenHttp(listener));
    expect(bodyOf(await read())).toMatchObject({
      status: 503,
      error: 'remote_unreachable',
      origin: 'host-b',
      message: expect.stringContaining('may not be the address of host-b. Check that'),
    });
  });

  it.each([
    ['nothing of HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['an endless head', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(200_000)}`],
    ['an answer without an end', `${HEAD}\r\nhello`],
    ['two lengths', `${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\nhello`],
    [
      'a WebSocket',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\nSvc-Host: host-b\r\n\r\n',
    ],
  ])('is no daemon where it says %s', async (_, text) => {
    await beside(await saying(text));
    expect(bodyOf(await read())).toMatchObject({
      status: 503,
      error: 'remote_unreachable',
      origin: 'host-b',
    });
  });

  it('sets no cookie, no policy and no permission here, and is sandboxed where a browser shows it', async () => {
    const headers = {
      ...{
        'Svc-Host': 'host-b',
        'Set-Cookie': 'a=b',
        'Access-Control-Allow-Origin': '*',
        Refresh: '0;url=//evil',
      },
      ...{ 'Content-Security-Policy': 'default-src *', 'Clear-Site-Data': '"*"', Link: '</x>; rel=preload' },
      ...{ 'X-Content-Type-Options': 'sniff', 'X-Request-Id': 'theirs', 'Content-Type': 'text/html' },
      ETag: '"kept"',
    };
    await beside(
      await listenHttp((_, response) =>
        response.writeHead(200, { ...headers, 'Content-Length': 2 }).end('ok'),
      ),
    );
    const own = await ask(asker, 'GET', '/ok');
    const answer = await read();
    expect(answer.headers).toEqual({
      ...own.headers,
      // The second may have turned between the two.
      date: expect.any(String),
      'content-security-policy': SANDBOX_SECURITY_HEADERS['Content-Security-Policy'],
      'x-frame-options': SANDBOX_SECURITY_HEADERS['X-Frame-Options'],
      'svc-host': 'host-b',
      etag: '"kept"',
      'content-type': 'text/html',
      'content-length': '2',
      'x-request-id': expect.not.stringContaining('theirs'),
    });
  });
});

describe('an answer in the name of a third host', () => {
  const answers = async (status: number) =>
    beside(
      await listenHttp((_, response) =>
        response
          .writeHead(status, {
            'Svc-Host': 'host-c',
            'Content-Type': 'application/json',
            'Content-Length': 2,
          })
          .end('{}'),
      ),
    );

  it('[RTE-2] is none, but for the refusal of a host that it was passed on to', async () => {
    await answers(200);
    expect(bodyOf(await read())).toMatchObject({
      status: 503,
      error: 'remote_unreachable',
      origin: 'host-b',
    });
    await answers(421);
    expect((await read()).status).toBe(421);
  });
});

describe('an answer of another host that stops in the middle', () => {
  /** Whether the client was told the whole of an answer. */
  async function complete(path = '/read?origin=host-b'): Promise<boolean> {
    const call = nodeRequest({ port: asker.port, path, agent: false }).end();
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    answer.on('error', () => undefined);
    answer.resume();
    await new Promise((closed) => answer.once('close', closed));
    return answer.complete;
  }

  it.each([
    ['with a length', `${HEAD}Content-Length: 10\r\n\r\nhello`],
    ['in chunks', `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`],
    ['in chunks that are malformed', `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n`],
  ])('is not taken for a whole one: %s', async (_, text) => {
    await beside(
      await listenRaw((socket) => {
        socket.once('data', () => socket.end(text));
      }),
    );
    expect(await complete()).toBe(false);
    expect((await ask(asker, 'GET', '/ok')).status).toBe(200);
  });

  it('is cut off where it comes byte by byte, and one that comes in time is not', async () => {
    const timers: NodeJS.Timeout[] = [];
    let every_ms = 100;
    const stranger = await listenRaw((socket) => {
      socket.once('data', () => {
        socket.write(`${HEAD}Content-Length: 20\r\n\r\n`);
        timers.push(setInterval(() => socket.write('x'), every_ms));
      });
      socket.on('close', () => timers.splice(0).map(clearInterval));
    });
    await beside(stranger, { relay_wait_ms: 1_000 });
    expect(await complete()).toBe(false);
    await until('the end of the connection', () => stranger.connections.every(({ destroyed }) => destroyed));
    every_ms = 5;
    expect(await complete()).toBe(true);
  });

  it('is left where its client goes, however much would come', async () => {
    const flood = (socket: Socket) => {
      const piece = Buffer.alloc(64 * 1024, 'x');
      const more = () => {
        while (!socket.destroyed && socket.write(piece));
      };
      socket.on('drain', more);
      more();
    };
    const stranger = await beside(
      await listenRaw((socket) => {
        socket.once('data', () => {
          socket.write(`${HEAD}Content-Length: 10000000000\r\n\r\n`);
          flood(socket);
        });
      }),
    );
    const call = nodeRequest({ port: asker.port, path: '/read?origin=host-b', agent: false }).end();
    call.on('error', () => undefined);
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    answer.on('error', () => undefined);
    let size = 0;
    answer.on('data', (piece) => {
      size += piece.length;
    });
    await until('a part of it', () => size > 1024 * 1024);
    call.destroy();
    await until('the end of the connection', () => stranger.connections.every(({ destroyed }) => destroyed));
  });
});

describe('a request that another host may have had', () => {
  /** Counts the requests that came; hangs up on all but the first of a connection. */
  async function hangingUp(): Promise<() => number> {
    let requests = 0;
    await beside(
      await listenRaw((socket) => {
        let here = 0;
        socket.on('data', (text) => {
          const heads = String(text).match(/HTTP\/1\.1\r\n/g)?.length ?? 0;
          requests += heads;
          here += heads;
          if (here === 1 && heads === 1) socket.write(`${HEAD}Content-Length: 2\r\n\r\nok`);
          else socket.destroy();
        });
      }),
    );
    return () => requests;
  }

  it('is sent once more where it only reads and went over a connection that was just closed', async () => {
    const requests = await hangingUp();
    expect((await read()).body).toBe('ok');
    expect((await read()).body).toBe('ok');
    expect(requests()).toBe(3);
  });

  it('is never sent twice where it may have an effect', async () => {
    let requests = 0;
    await beside(
      await listenRaw((socket) => {
        socket.once('data', () => {
          requests += 1;
          socket.destroy();
        });
      }),
    );
    for (const send of [write, () => ask(asker, 'POST', '/bytes', { body: '{"origin":"host-b"}' })])
      expect(bodyOf(await send())).toMatchObject({
        status: 503,
        error: 'remote_unreachable',
        message: expect.stringContaining('may have taken effect'),
      });
    expect(requests).toBe(2);
    expect((await read()).status).toBe(503);
    expect(requests).toBe(3);
  });
});

describe('a body for a host that does not read', () => {
  it('[LIM-6] is taken from the client no faster, and given up in time', async () => {
    await beside(
      await listenRaw((socket) => socket.pause()),
      {},
      { body_timeout_ms: 1_500, answer_ms: 60_000 },
    );
    const length = 60_000_000;
    const socket = connect(asker.port, '127.0.0.1');
    socket.on('error', () => undefined);
    let answer = '';
    socket.on('data', (text) => {
      answer += text;
    });
    socket.write(
      `POST /bytes HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${length}\r\n\r\n{"origin":"host-b","data":"`,
    );
    const piece = Buffer.alloc(64 * 1024, 'x');
    let taken = 0;
    const more = (): void => {
      if (answer !== '' || taken > length - 2 * piece.length) return;
      socket.write(piece, () => {
        taken += piece.length;
        more();
      });
    };
    more();
    await until('the answer', () => answer.includes('deadline_exceeded'));
    expect(answer).toContain('host-b takes the body too slowly');
    // What is on its way between four sockets; the rest never left the client.
    expect(taken).toBeLessThan(length / 2);
    socket.destroy();
  });

  it('[LIM-6] is not read to its end where the host answers before', async () => {
    await beside(
      await saying(`${HEAD.replace('200 OK', '413 Content Too Large')}Content-Length: 2\r\n\r\nno`),
    );
    const head = { 'Content-Length': '60000000', 'Content-Type': 'application/json' };
    const heard = await exchangeRaw(asker, [
      requestText('POST', '/bytes', head, '{"origin":"host-b","data":"'),
    ]);
    expect(heard).toMatchObject({ closed: true, text: expect.stringContaining('HTTP/1.1 413') });
    expect(heard.text).toMatch(/\r\n\r\nno$/);
  });

  it('[LIM-6] is given up where its client goes', async () => {
    const stranger = await beside(await listenRaw((socket) => socket.resume()));
    const socket = connect(asker.port, '127.0.0.1');
    socket.write(
      'POST /bytes HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{"origin":"host-b",',
    );
    await until('the connection', () => stranger.connections.length === 1);
    socket.destroy();
    await until('its end', () => stranger.connections.every(({ destroyed }) => destroyed));
  });
});
