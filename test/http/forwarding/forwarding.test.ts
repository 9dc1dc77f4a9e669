import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request as nodeRequest } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { RequestView } from '../../../src/http/request-view.ts';
import { until } from '../../kit/until.ts';
import { ask } from '../raw-exchange.ts';
import { getRow, json, postRow, type Served } from '../served.ts';
import { serveAsker, serveOwner, urlOf } from './hosts.ts';

const running: Served[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ server }) => server.stop()));
});

const MIB = 1024 * 1024;
const query = z.looseObject({});
const content = (size: number, made: { bytes: number } = { bytes: 0 }) => ({
  size,
  async *read(from: number, end: number) {
    for (let at = from; at < end; ) {
      const piece = Buffer.alloc(Math.min(64 * 1024, end - at), at % 251);
      at += piece.length;
      made.bytes += piece.length;
      yield piece;
    }
  },
});

/** Two hosts; `seen` are the requests that reached the handlers of host-b. */
async function start() {
  const seen: RequestView[] = [];
  const made = { bytes: 0 };
  const uploads: { size: number; sha256: string }[] = [];
  const rest = { routing: 'owner', query } as const;
  const owner = await serveOwner([
    getRow(
      '/read',
      (request) => {
        seen.push(request);
        return json(
          { query: request.query, at: 'host-b' },
          { etag: '"tag-1"', headers: { 'Svc-Extra': 'yes' } },
        );
      },
      rest,
    ),
    getRow(
      '/large',
      () => ({
        status: 200,
        content: content(96 * MIB, made),
        content_type: 'application/octet-stream',
        etag: '"large"',
        last_modified: 1_700_000_000_000,
      }),
      rest,
    ),
    getRow(
      '/chunks',
      ({ signal }) => {
        signal.addEventListener('abort', () => {
          made.bytes = -1;
        });
        return {
          status: 200,
          content_type: 'text/plain',
          stream: (async function* chunks() {
            for (const text of ['one ', 'two ', 'three']) yield Buffer.from(text);
          })(),
        };
      },
      rest,
    ),
    getRow('/none', () => ({ status: 204, empty: true }), rest),
    getRow(
      '/kept',
      async ({ signal }) => {
        seen.push({ signal } as RequestView);
        await once(signal, 'abort');
        return json('late');
      },
      rest,
    ),
    postRow(
      '/write',
      (request) => {
        seen.push(request);
        return { status: 422, json: { error: 'arm_refused', message: 'No.', wrote: request.body } };
      },
      { body: z.looseObject({}), routing: 'owner', body_limit: 1_000_000 },
    ),
    postRow(
      '/bytes',
      ({ body }) => {
        const bytes = body as Uint8Array;
        uploads.push({ size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
        return json('stored');
      },
      { body: 'bytes', routing: 'owner', body_limit: 64_000_000 },
    ),
  ]);
  const asker = await serveAsker({ 'host-b': urlOf(owner) });
  running.push(owner, asker);
  return { owner, asker, seen, made, uploads };
}

describe('a forwarded request', () => {
  it('[RTE-2] is answered with what the owner answers, byte for byte, and names the host', async () => {
    const { owner, asker } = await start();
    const path = '/read?x=%2F%20y&origin=host-b';
    const direct = await ask(owner, 'GET', path);
    const passed = await ask(asker, 'GET', path);
    const {
      'x-request-id': _id,
      'content-security-policy': _policy,
      'x-frame-options': _frames,
      ...headers
    } = direct.headers;
    expect(passed).toMatchObject({
      status: 200,
      body: direct.body,
      headers: { ...headers, 'svc-host': 'host-b' },
    });
    expect(JSON.parse(passed.body)).toEqual({ query: { x: '/ y', origin: 'host-b' }, at: 'host-b' });
  });

  it('[RPL-22] carries validators there, and the 304 with its tag back', async () => {
    const { asker } = await start();
    const answer = await ask(asker, 'GET', '/read?origin=host-b', {
      headers: { 'If-None-Match': '"tag-1"' },
    });
    expect(answer).toMatchObject({ status: 304, body: '', headers: { etag: '"tag-1"' } });
    expect(answer.headers).not.toHaveProperty('content-length');
  });

  it('[RPL-22] carries a range there, and the part or its refusal back', async () => {
    const { asker } = await start();
    const range = (value: string) => ask(asker, 'GET', '/large?origin=host-b', { headers: { Range: value } });
    expect(await range('bytes=10-19')).toMatchObject({
      status: 206,
      headers: {
        'content-range': `bytes 10-19/${96 * MIB}`,
        'content-length': '10',
        'accept-ranges': 'bytes',
      },
    });
    expect(await range(`bytes=${96 * MIB}-`)).toMatchObject({
      status: 416,
      headers: { 'content-range': `bytes */${96 * MIB}` },
    });
  });

  it('answers a HEAD and a 204 without a body, and leaves the connection to the next request', async () => {
    const { asker } = await start();
    const head = await ask(asker, 'HEAD', '/large?origin=host-b');
    expect(head).toMatchObject({
      status: 200,
      headers: { 'content-length': String(96 * MIB), etag: '"large"' },
    });
    expect(await ask(asker, 'GET', '/none?origin=host-b')).toMatchObject({ status: 204, body: '' });
    const text = await fetch(`${urlOf(asker)}/chunks?origin=host-b`).then((answer) => answer.text());
    expect(text).toBe('one two three');
  });

  it('says nothing of the client but its kind and what concerns the content, and its own name', async () => {
    const { asker, seen } = await start();
    const sent = {
      ...{
        Cookie: 'a=b',
        Authorization: 'Basic x',
        'X-Forwarded-For': '1.2.3.4',
        Connection: 'keep-alive, x-own',
      },
      ...{ 'X-Own': '1', Accept: 'application/json', 'Accept-Encoding': 'identity' },
    };
    const answer = await ask(asker, 'GET', '/read?origin=host-b', { headers: sent });
    expect(seen[0]!.headers).toEqual({
      host: expect.stringMatching(/^127\.0\.0\.1:/),
      connection: 'keep-alive',
      accept: 'application/json',
      'accept-encoding': 'identity',
      'svc-asked-by': 'http',
      'svc-hops': 'host-a',
      'x-request-id': answer.headers['x-request-id'],
    });
  });

  it('keeps its id on the other host', async () => {
    const { asker, owner, seen } = await start();
    const { headers } = await ask(asker, 'GET', '/read?origin=host-b');
    expect(seen[0]!.id).toBe(headers['x-request-id']);
    for (const id of ['x'.repeat(65), 'a b', '', 'é']) {
      await ask(owner, 'GET', '/read', { headers: { 'Svc-Hops': 'host-a', 'X-Request-Id': id } });
      expect(seen.at(-1)!.id).toMatch(/^[0-9a-z]+-[0-9a-z]+$/);
    }
    await ask(owner, 'GET', '/read', { headers: { 'X-Request-Id': 'of-a-client' } });
    expect(seen.at(-1)!.id).not.toBe('of-a-client');
  });

  it('[RTE-2] brings the errors of the owner back as they are', async () => {
    const { asker, owner } = await start();
    const body = '{"origin":"host-b", "x":1 }';
    const direct = await ask(owner, 'POST', '/write', { body });
    expect(await ask(asker, 'POST', '/write', { body })).toMatchObject({ status: 422, body: direct.body });
    const url = '/write?origin=host-b';
    expect((await ask(asker, 'POST', url, { body: '{"x":5}' })).status).toBe(400);
    const misdirected = await ask(owner, 'GET', '/read?origin=host-c', { headers: { 'Svc-Hops': 'host-a' } });
    expect(misdirected).toMatchObject({ status: 421, headers: { 'svc-host': 'host-b' } });
  });

  it('[RTE-2] [VER-3] says which host is asked for a route that its older daemon does not have', async () => {
    const older = await serveOwner([]);
    const asker = await serveAsker({ 'host-b': urlOf(older) });
    running.push(older, asker);
    const lacking = await ask(asker, 'GET', '/read?origin=host-b');
    expect(lacking).toMatchObject({ status: 404, headers: { 'svc-host': 'host-b' } });
    expect(JSON.parse(lacking.body)).toEqual({
      error: 'not_found',
      message:
        'The daemon of host-b has no route with that path. If it is older than what asked, bring it up to date.',
      unknown_route: true,
    });
  });

  it('is cancelled on the other host when the client disconnects', async () => {
    const { asker, seen } = await start();
    const call = nodeRequest({ port: asker.port, path: '/kept?origin=host-b', agent: false }).end();
    call.on('error', () => undefined);
    const view = await until('the request', () => seen[0]);
    const aborted = once(view.signal, 'abort');
    call.destroy();
    await aborted;
  });

  it('uses few connections, which are kept alive', async () => {
    const { asker, seen } = await start();
    for (let times = 0; times < 20; times += 1) await ask(asker, 'GET', '/read?origin=host-b');
    expect(seen).toHaveLength(20);
    const path = '/read?origin=host-b';
    await Promise.all(Array.from({ length: 60 }, () => ask(asker, 'GET', path)));
    expect(seen).toHaveLength(80);
  });
});

describe('a large forwarded answer', () => {
  it('comes whole', async () => {
    const { asker, made } = await start();
    const answer = await fetch(`${urlOf(asker)}/large?origin=host-b`);
    let size = 0;
    for await (const piece of answer.body!) size += piece.length;
    expect([size, made.bytes]).toEqual([96 * MIB, 96 * MIB]);
  });

  it('is read from the other host no faster than the client takes it', async () => {
    const { asker, made } = await start();
    const call = nodeRequest({ port: asker.port, path: '/large?origin=host-b', agent: false }).end();
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    let before = -1;
    await until('the owner waiting', async () => {
      const now = made.bytes;
      const waits = now === before;
      before = now;
      await new Promise((resolve) => setTimeout(resolve, 200));
      return waits;
    });
    // What four sockets and the buffers of two processes take.
    expect(made.bytes).toBeLessThan(48 * MIB);
    answer.resume();
    await once(answer, 'end');
    expect(made.bytes).toBe(96 * MIB);
  });
});

describe('a large forwarded body', () => {
  const filler = 'A'.repeat(25_000_000);
  const shapes = {
    'its origin first': `{"origin":"host-b","data":"${filler}"}`,
    'its origin last': `{"data":"${filler}","origin":"host-b"}`,
  };

  it.each(Object.entries(shapes))('[LIM-6] arrives whole with %s', async (_, body) => {
    const { asker, uploads } = await start();
    expect(await ask(asker, 'POST', '/bytes', { body })).toMatchObject({ status: 200, body: '"stored"' });
    expect(uploads).toEqual([{ size: body.length, sha256: createHash('sha256').update(body).digest('hex') }]);
  });

  it('[LIM-6] arrives whole in chunks of any length', async () => {
    const { asker, uploads } = await start();
    const call = nodeRequest({ port: asker.port, path: '/bytes', method: 'POST', agent: false });
    const parts = [
      '{"or',
      'igin"',
      ':"ho',
      'st-b","data":"',
      'x'.repeat(700_000),
      '\\"',
      'y'.repeat(300_000),
      '"}',
    ];
    for (const part of parts) {
      call.write(part);
      await new Promise((resolve) => setImmediate(resolve));
    }
    call.end();
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(200);
    answer.resume();
    expect(uploads[0]!.size).toBe(parts.join('').length);
  });

  it('stays here where no host, or this one, is named, and is refused where it names two', async () => {
    const { asker, uploads } = await start();
    for (const body of [
      '{"a":{"origin":"host-b"}}',
      '{"origin":"host-a"}',
      '{"a":"origin"}',
      '[{"origin":"host-b"}]',
    ])
      expect(await ask(asker, 'POST', '/bytes', { body })).toMatchObject({ status: 200, body: '"here"' });
    const twice = await ask(asker, 'POST', '/bytes', { body: '{"origin":"host-a","origin":"host-b"}' });
    expect(twice).toMatchObject({ status: 400, body: expect.stringContaining('twice') });
    expect(uploads).toEqual([]);
  });
});
